/*
 * An event plugin for OpenSM that measures its routing engines and asks them for path SLs.
 *
 * Wraps each engine's build_lid_matrices and ucast_build_fwd_tables and records the CPU time of the thread and the wall time
 * that each call took; after the first routing it calls the used engine's path_sl for all pairs of LIDs. Writes two files
 * into the folder that the variable RUNFLAT_PROBE names (the second not if RUNFLAT_PROBE_TIMES is 1): `steps` (text: engine, step, CPU ns, wall ns, status a line) and
 * `path_sl` (binary, little-endian: uint32 number of LIDs n, n uint16 LIDs, n * n uint8 SLs, source major).
 *
 * Built against OpenSM's public headers alone. Load it ahead of other libraries (LD_PRELOAD) and as `event_plugin_name
 * runflat_probe`: it must come before libc to force rand() to 0 while it asks, since DFSSSP draws a pair's lane from those of
 * its group; 0 gives the first of the group.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <opensm/osm_config.h> /* first: it decides the layout of the structures */
#include <opensm/osm_version.h>
#include <opensm/osm_opensm.h>
#include <opensm/osm_event_plugin.h>

enum { ENGINES = 4, FOLDER_MAX = 4096, LIDS_MAX = 0xC000 };
enum { LID_MATRICES, FWD_TABLES };

struct engine {
	osm_routing_engine_t *engine;
	int (*lid_matrices)(void *context);
	int (*fwd_tables)(void *context);
};

static osm_opensm_t *opensm;
static struct engine engines[ENGINES];
static int engine_count;
static int asking;
static int asked;

int rand(void)
{
	static int (*next)(void);

	if (asking)
		return 0;
	if (!next)
		next = (int (*)(void))dlsym(RTLD_NEXT, "rand");
	return next();
}

static FILE *open_file(const char *name, const char *mode)
{
	char path[FOLDER_MAX];
	const char *folder = getenv("RUNFLAT_PROBE");

	if (!folder)
		return NULL;
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return fopen(path, mode);
}

static long long now_ns(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return time.tv_sec * 1000000000LL + time.tv_nsec;
}

/* An engine without a step of its own has the unicast manager do it; so has MinHop, the default engine. */
static int timed(int index, int step)
{
	struct engine *own = &engines[index];
	osm_routing_engine_t *plain = opensm->default_routing_engine;
	int (*call)(void *) = step == LID_MATRICES ? own->lid_matrices : own->fwd_tables;
	void *context = own->engine->context;
	long long cpu, wall;
	int status, other;
	FILE *file;

	for (other = 0; !call && other < engine_count; other++)
		if (engines[other].engine == plain) {
			call = step == LID_MATRICES ? engines[other].lid_matrices : engines[other].fwd_tables;
			context = plain->context;
		}
	wall = now_ns(CLOCK_MONOTONIC);
	cpu = now_ns(CLOCK_THREAD_CPUTIME_ID);
	status = call(context);
	cpu = now_ns(CLOCK_THREAD_CPUTIME_ID) - cpu;
	wall = now_ns(CLOCK_MONOTONIC) - wall;
	file = open_file("steps", "a");
	if (file) {
		fprintf(file, "%s %s %lld %lld %d\n", own->engine->name,
			step == LID_MATRICES ? "build_lid_matrices" : "ucast_build_fwd_tables", cpu, wall, status);
		fclose(file);
	}
	return status;
}

/* The functions get only the engine's context, which engines may share: one function for each place in `engines`. */
#define PLACE(n)                                                                                                    \
	static int lid_matrices_##n(void *context) { (void)context; return timed(n, LID_MATRICES); }                 \
	static int fwd_tables_##n(void *context) { (void)context; return timed(n, FWD_TABLES); }
PLACE(0)
PLACE(1)
PLACE(2)
PLACE(3)

static int (*const lid_matrices[ENGINES])(void *) = { lid_matrices_0, lid_matrices_1, lid_matrices_2, lid_matrices_3 };
static int (*const fwd_tables[ENGINES])(void *) = { fwd_tables_0, fwd_tables_1, fwd_tables_2, fwd_tables_3 };

static void wrap(osm_routing_engine_t *engine)
{
	int at;

	for (at = 0; at < engine_count; at++)
		if (engines[at].engine == engine)
			return;
	if (!engine || engine_count == ENGINES)
		return;
	engines[at].engine = engine;
	engines[at].lid_matrices = engine->build_lid_matrices;
	engines[at].fwd_tables = engine->ucast_build_fwd_tables;
	engine_count++;
	engine->build_lid_matrices = lid_matrices[at];
	engine->ucast_build_fwd_tables = fwd_tables[at];
}

static void ask_path_sls(void)
{
	static uint16_t lids[LIDS_MAX];
	osm_routing_engine_t *engine = opensm->routing_engine_used;
	const char *times_only = getenv("RUNFLAT_PROBE_TIMES");
	uint32_t count = 0, from, to;
	unsigned lid;
	FILE *file;

	if (asked || !engine || !engine->path_sl || (times_only && *times_only == '1'))
		return;
	file = open_file("path_sl", "w");
	if (!file)
		return;
	asked = 1;
	for (lid = 1; lid < LIDS_MAX; lid++)
		if (osm_get_port_by_lid_ho(&opensm->subn, (uint16_t)lid))
			lids[count++] = (uint16_t)lid;
	fwrite(&count, sizeof(count), 1, file);
	fwrite(lids, sizeof(lids[0]), count, file);
	asking = 1;
	for (from = 0; from < count; from++)
		for (to = 0; to < count; to++) {
			uint8_t sl = 0;

			if (from != to)
				sl = engine->path_sl(engine->context, 0, cl_hton16(lids[from]), cl_hton16(lids[to]));
			fputc(sl, file);
		}
	asking = 0;
	fclose(file);
}

static void *create(struct osm_opensm *osm)
{
	opensm = osm;
	return osm;
}

static void delete(void *data)
{
	(void)data;
}

static void report(void *data, osm_epi_event_id_t event, void *event_data)
{
	osm_routing_engine_t *engine;

	(void)data;
	(void)event_data;
	if (event == OSM_EVENT_ID_HEAVY_SWEEP_START) {
		for (engine = opensm->routing_engine_list; engine; engine = engine->next)
			wrap(engine);
		wrap(opensm->default_routing_engine);
	} else if (event == OSM_EVENT_ID_UCAST_ROUTING_DONE) {
		ask_path_sls();
	}
}

osm_event_plugin_t osm_event_plugin = { OSM_VERSION, create, delete, report };
