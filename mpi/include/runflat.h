/* runflat: recovery for MPI programs on a stock MPI with fault tolerance (Open MPI 5.0, `mpirun --with-ft ulfm`).
 *
 * The shape of a program that survives (examples/ builds it up step by step):
 *
 *     MPI_Init(&argc, &argv);
 *     MPI_Comm comm;
 *     int code = RF_Init(RF_SPARES_FROM_LAUNCH, &comm);   // spares sleep in here until they are needed
 *     if (code != MPI_SUCCESS) MPI_Abort(MPI_COMM_WORLD, 1);
 *     if (comm != MPI_COMM_NULL) {
 *         RF_Protect(0, field, bytes);
 *         int64_t step = 0;
 *         for (;;) {
 *             if (RF_Shape() == RF_SMALLER) ...       // spares ran out: with other ranks, other data
 *             code = RF_Restore(comm, &step);         // a spare that took over gets the data of its rank
 *             if (code == RF_ERR_NO_CHECKPOINT || code == RF_ERR_DATA_LOST) {
 *                 first_values(comm, field);
 *                 code = RF_Checkpoint(comm, step = 0);
 *             }
 *             for (; code == MPI_SUCCESS && step < steps; step++) {
 *                 code = compute(comm, field);
 *                 if (code == MPI_SUCCESS) code = RF_Checkpoint(comm, step + 1);
 *             }
 *             if (code == MPI_SUCCESS) code = RF_End(&comm);
 *             if (code == MPI_SUCCESS) break;
 *             if (!RF_Is_failure(comm, code) || RF_Repair(&comm) != MPI_SUCCESS) MPI_Abort(MPI_COMM_WORLD, 1);
 *             if (comm == MPI_COMM_NULL) break;       // its rank had moved on, and it was a spare to the end
 *         }
 *     }
 *     MPI_Finalize();
 *
 * Sources: Hori et al. 2016, "User-level vs. System-level"; Bouteiller and Bosilca 2022, Figure 1.
 *
 * All functions but RF_Is_failure, RF_Spares and RF_Shape return MPI_SUCCESS, an MPI error class, or one of the codes below; those of RF_* never call an error
 * handler, those of MPIX_* that of their communicator.
 * RF_* calls of one process come from one thread at a time. */
#ifndef RUNFLAT_H
#define RUNFLAT_H

#include <mpi.h>
#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h> /* MPIX_ERR_PROC_FAILED, MPIX_ERR_REVOKED, MPIX_Comm_shrink and their kind */
#endif
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define RF_API __attribute__((visibility("default")))
#else
#define RF_API
#endif

/* Codes beside MPI's own; no MPI error class is negative. */
enum {
    RF_ERR_NO_SPARE = -101,  /* no spare is left for a failed rank, and the job is to stop then */
    RF_ERR_DATA_LOST = -102, /* a rank's checkpoint went down with all processes that held it */
    RF_ERR_NO_CHECKPOINT = -103, /* there is no complete version to go back to */
    RF_ERR_UNPROTECTED = -104, /* this MPI cannot recover, or was started without fault tolerance */
    RF_ERR_ARGUMENT = -105     /* wrong use; said on stderr */
};

/* Whether a code says that processes have failed, so that RF_Repair is what comes next: MPIX_ERR_PROC_FAILED,
 * MPIX_ERR_PROC_FAILED_PENDING, MPIX_ERR_REVOKED; and where the communicator is revoked or has failed processes
 * MPI_ERR_IN_STATUS, as MPI_Waitall and its kind return it, and MPI_ERR_OTHER, MPI_ERR_UNKNOWN, MPI_ERR_INTERN, as Open MPI 5.0
 * has it with MPI_THREAD_MULTIPLE for barriers that a failure has ended. A repair does not mend any other error.
 *
 * [in] comm  the communicator of the call; for calls on a communicator, window or file made from that of the job, that of the job
 * [in] code  what it returned
 *
 * 1 or 0. */
RF_API int RF_Is_failure(MPI_Comm comm, int code);

/* As many spares as `runflat mpi run --spares` (RUNFLAT_SPARES) says; 0 without it. */
#define RF_SPARES_FROM_LAUNCH (-1)

/* What a communicator that RF_Repair gave back is like. */
enum {
    RF_SAME_SIZE = 0, /* every rank is there again, in the same order */
    RF_SMALLER = 1    /* spares ran out: fewer ranks, in the old order without the lost ones */
};

/* Splits the processes of MPI_COMM_WORLD into ranks and spares. All processes of the world must call it, once, after MPI_Init.
 * From here on use `comm`, and what is made from it, in place of MPI_COMM_WORLD: spares take part in nothing while they sleep
 * (collective calls on the world raise MPI_ERR_COMM meanwhile), and a repair does not interrupt who waits for a live process there.
 *
 * [in]  spares  how many processes to keep, the same number at all; which they are, and who will take over for whom, is what the launch says
 *               (RUNFLAT_SHAPE, RUNFLAT_ALLOCATION, RUNFLAT_POLICY); by default the last ones, the nearest to a failed rank first
 * [out] comm    for ranks a communicator of world size - spares processes, errors are returned; the caller gives it to
 *               RF_Repair and RF_End and does not free it. A spare comes back when it takes over, with the repaired
 *               communicator, or at the end of the job, with MPI_COMM_NULL.
 *
 * MPI_SUCCESS; RF_ERR_ARGUMENT, at all alike, if there are not more processes than spares, if not all give the same number, or if what
 * the launch says does not fit;
 * RF_ERR_ARGUMENT outside of MPI_Init and MPI_Finalize, or if there is a job already or has been one (comm stays as it is);
 * RF_ERR_UNPROTECTED, comm is MPI_COMM_NULL: a program may go on in MPI_COMM_WORLD, without the other calls;
 * RF_ERR_NO_SPARE at ranks and sleeping spares alike, if the job is to stop when spares run out and they have. */
RF_API int RF_Init(int spares, MPI_Comm *comm);

/* Makes the communicator whole again after a failure: every rank in its place, failed ones replaced by spares. All live ranks
 * come here, some because an operation told them of the failure, the others because this call interrupts theirs, on the communicator
 * of the job, with MPIX_ERR_REVOKED. Failures during the repair are repaired as well.
 *
 * Communicators and windows that were made from it, or from those, are interrupted alike, also those that this process has freed
 * since it has heard of the failure: free them, before or after, and make them anew from the repaired one. Windows have an error handler
 * of their own, which ends the job unless it is set (MPI_Win_set_errhandler, MPI_ERRORS_RETURN). What takes all live
 * processes whether it is revoked or not, MPIX_Comm_shrink and MPIX_Comm_agree, is not interrupted.
 *
 * [in,out] comm  the communicator of RF_Init; afterwards the repaired one (the old handle is gone). This process's rank in it
 *                may be another than before if the policy slides ranks.
 *
 * MPI_SUCCESS (see RF_Shape); RF_ERR_NO_SPARE at all ranks alike, if the job is to stop when spares run out; RF_ERR_ARGUMENT if
 * there is no job, comm is another communicator, or a request of RF_Comm_irepair is under way. */
RF_API int RF_Repair(MPI_Comm *comm);

/* RF_Repair as a request, for ranks that have something to do meanwhile. All live ranks repair, some so, some with RF_Repair.
 *
 * [in]  comm      of RF_Init or of the last repair; revoked at once, freed when the request has ended
 * [out] repaired  valid when the request has ended; where it is MPI_COMM_NULL then, give it to RF_Repair: that says RF_ERR_NO_SPARE if
 *                 the job is to stop; else this process is a spare now, and sleeps in there
 * [out] request   for MPI_Wait, MPI_Test and their kind; the work goes on in calls as that of MPIX_Comm_ishrink does
 *
 * MPI_SUCCESS; RF_ERR_ARGUMENT; MPI_ERR_NO_MEM. */
RF_API int RF_Comm_irepair(MPI_Comm comm, MPI_Comm *repaired, MPI_Request *request);

/* Starts new processes as spares, one for each that has died (MPI_Comm_spawn of this program with its words, about half a second
 * each, waited for). All ranks call it, at the same point of the program; the communicator is made anew as by RF_Repair, with
 * everybody alive in place, and what is protected goes on as it is. Where none can be started, or it does not come to RF_Init within
 * half of the step limit, there are fewer spares.
 *
 * A new process begins the program anew, alone in its MPI_COMM_WORLD, and sleeps in RF_Init as other spares do.
 *
 * [in,out] comm  as for RF_Repair
 *
 * As RF_Repair; the class of a failure at all ranks alike, also where a spare has taken over meanwhile: repair and restore;
 * RF_ERR_ARGUMENT in a job that began without spares; RF_ERR_UNPROTECTED unless the job was started for it (`runflat mpi run --refill`):
 * without that the launcher ends the job when a new process dies. */
RF_API int RF_Refill(MPI_Comm *comm);

/* How many spares are left; 0 before RF_Init and after RF_End. */
RF_API int RF_Spares(void);

/* RF_SAME_SIZE or RF_SMALLER: what RF_Init, which may have woken a spare, or the last repair made of the communicator: ask before each
 * RF_Restore. In a smaller one RF_Restore brings back the data of each
 * rank that is left; those of the others are gone, so a program whose result needs them stops, or shares out its work anew. */
RF_API int RF_Shape(void);

/* Names memory that belongs to the rank: what RF_Checkpoint keeps and RF_Restore brings back. Ranks may name different ids and
 * sizes, in any order. A process that moves to a rank or takes it over names what that rank has named, with its own memory, before
 * RF_Restore. It is the memory that is named, not a variable: whoever swaps two pointers names both again. All that the program needs
 * to go on, its results too, has to be among it: a spare that takes over begins with what RF_Restore brings. It cannot know a size that has
 * grown since the start: of data whose size changes name as much as a rank may ever need.
 *
 * [in] id      any number; naming it again replaces the memory
 * [in] memory  the caller's, until it is named again or MPI_Finalize
 * [in] bytes   its size
 *
 * MPI_SUCCESS; RF_ERR_ARGUMENT if memory is NULL and bytes are more than 0; MPI_ERR_NO_MEM. */
RF_API int RF_Protect(int id, void *memory, size_t bytes);

/* Keeps the protected memory of all ranks as `version`: a copy here and one at another rank, on another host where there is
 * one. Two phases: a version counts when all have it, so a failure meanwhile leaves the one before in force. Of a checkpoint in which
 * nothing is protected one line is said. Collective.
 *
 * [in] comm     of RF_Init or of the last repair
 * [in] version  0 or more, and more than the last one that counts
 *
 * MPI_SUCCESS, or the class of a failure, at all ranks alike. At all alike too, and the version before stays in force: MPI_ERR_NO_MEM,
 * where memory was too little at any rank (the next checkpoint may ask for a repair); MPI_ERR_IO, where files could not be written.
 * RF_ERR_ARGUMENT, where at any rank the version is too low, or other than at the others. */
RF_API int RF_Checkpoint(MPI_Comm comm, int64_t version);

/* RF_Checkpoint as a request: the protected memory is copied in this call and may change afterwards, the rest happens beside the
 * computation, in calls as with MPIX_Comm_ishrink (files of `--supervise` are written by a thread). Collective.
 * There is one at a time: the next checkpoint, RF_Restore and RF_End wait for its end; a repair gives it up, its request has ended then
 * with the class of a failure, and is still to be waited for.
 *
 * [in]  comm     of RF_Init or of the last repair
 * [in]  version  as for RF_Checkpoint
 * [out] request  for MPI_Wait, MPI_Test and their kind: MPI_SUCCESS, then the version counts; MPI_ERR_IO or MPI_ERR_ARG (where
 *                RF_Checkpoint says RF_ERR_ARGUMENT) at all ranks alike; or the class of a failure, which others may not have
 *
 * MPI_SUCCESS; RF_ERR_ARGUMENT; MPI_ERR_NO_MEM, at this rank alone, while the others' requests end with the class of a failure; or
 * that class. */
RF_API int RF_Icheckpoint(MPI_Comm comm, int64_t version, MPI_Request *request);

/* Brings back the last complete version at all ranks, and makes the copies that were lost with failed processes anew. What a rank
 * that has taken over needs is on its way since the repair has known who takes over, beside its other steps. Right after RF_Init, too, it
 * may bring data back, from files of an earlier attempt or job (`--supervise`, `--resume`): call it before first values are made.
 * Collective.
 *
 * [in]  comm     of RF_Init or of the last repair
 * [out] version  the version that memory has now; untouched unless MPI_SUCCESS is returned
 *
 * MPI_SUCCESS; RF_ERR_NO_CHECKPOINT if no version is complete yet; RF_ERR_DATA_LOST if one was, and a rank's copies are all
 * gone: there is none then any more, begin with the first values; RF_ERR_ARGUMENT if other memory is protected at any rank than
 * was at the checkpoint; MPI_ERR_NO_MEM; all at all ranks alike. Or the class of a failure: repair, and restore again. */
RF_API int RF_Restore(MPI_Comm comm, int64_t *version);

/* Ends the protected part: all ranks are done. Spares are released. Collective. A job that comes to MPI_Finalize without it is told so: it
 * ends, too, but ranks that are in MPI_Finalize do not come to a repair.
 *
 * [in,out] comm  of RF_Init or of the last repair
 *
 * MPI_SUCCESS, comm is then MPI_COMM_NULL; or the class of a failure at all ranks alike: repair and go on, the spares are
 * still there; RF_ERR_ARGUMENT as for RF_Repair. */
RF_API int RF_End(MPI_Comm *comm);

/* MPIX_Comm_shrink as a request: the live processes of `comm` get a communicator of their own, in the order of their ranks, while
 * each goes on with other work. MPI's own where the MPI has it.
 *
 * Failures that are known are acknowledged on `comm`. Until the request has ended no other agreement is started on `comm`; more
 * shrinks may be, and each process may post those of different communicators in any order. The work is done inside calls that
 * test or wait, for whatever it be.
 *
 * [in]  comm     an intracommunicator, revoked or not
 * [out] made     valid when the request has ended; the caller frees it
 * [out] request  for MPI_Wait, MPI_Test and their kind
 *
 * MPI_SUCCESS; MPI_ERR_UNSUPPORTED_OPERATION on an intercommunicator, or on an MPI other than Open MPI 5.0 that has none of its own. */
RF_API int MPIX_Comm_ishrink(MPI_Comm comm, MPI_Comm *made, MPI_Request *request);

/* MPI_Comm_spawn, MPI_Comm_spawn_multiple, MPI_Comm_connect and MPI_Comm_accept as requests; the other side may make the call
 * that waits. Uniform whatever the communicator's mode: all processes of `comm` get the new communicator, or the same error class
 * if one of them dies first. The work goes on as that of MPIX_Comm_ishrink does. Between the same two jobs one is to be under way
 * at a time: with several Open MPI waits for ever.
 *
 * [in]  comm   an intracommunicator
 * [in]  others as in the call that waits; arrays and strings stay the caller's, unchanged until the request has ended
 * [out] made   valid when the request has ended; MPI_COMM_NULL after an error; the caller frees it
 *
 * MPI_SUCCESS; MPI_ERR_COMM on an intercommunicator; MPI_ERR_UNSUPPORTED_OPERATION on an MPI other than Open MPI 5.0. */
RF_API int MPIX_Comm_ispawn(const char *command, char *words[], int count, MPI_Info info, int root,
                            MPI_Comm comm, MPI_Comm *made, int codes[], MPI_Request *request);
RF_API int MPIX_Comm_ispawn_multiple(int kinds, char *commands[], char **words[],
                                     const int counts[], const MPI_Info infos[], int root,
                                     MPI_Comm comm, MPI_Comm *made, int codes[],
                                     MPI_Request *request);
RF_API int MPIX_Comm_iconnect(const char *port, MPI_Info info, int root, MPI_Comm comm,
                              MPI_Comm *made, MPI_Request *request);
RF_API int MPIX_Comm_iaccept(const char *port, MPI_Info info, int root, MPI_Comm comm,
                             MPI_Comm *made, MPI_Request *request);

#ifdef __cplusplus
}
#endif

#endif
