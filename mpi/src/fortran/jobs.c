/* Fortran's names of the calls that start and meet other jobs. Strings are padded with blanks, their lengths follow all arguments. */
#include "fortran/names.h"

#include <stdlib.h>
#include <string.h>

char *c_string(const char *text, size_t length)
{
    while (length > 0 && *text == ' ') {
        text++;
        length--;
    }
    while (length > 0 && text[length - 1] == ' ')
        length--;
    return strndup(text, length);
}

/* The words of one kind of programs, up to a blank one, in an array of kinds x words in Fortran's order. */
static char **words_of(const char *words, size_t length, int kinds, int kind)
{
    char **own = NULL, *word = NULL;
    for (size_t count = 0;; count++) {
        char **more = realloc(own, sizeof *own * (count + 1));
        if (!more) {
            if (own)
                own[count - 1] = NULL;
            return own;
        }
        own = more;
        word = c_string(words + (count * (size_t)kinds + (size_t)kind) * length, length);
        own[count] = word && *word ? word : NULL;
        if (!own[count])
            break;
    }
    free(word);
    return own;
}

static void free_words(char **words)
{
    for (char **word = words; word && *word; word++)
        free(*word);
    free(words);
}

/* Strings, arrays and info objects matter at the root alone. */
static bool is_root(MPI_Comm comm, int root)
{
    int rank = MPI_UNDEFINED;
    if (comm != MPI_COMM_NULL)
        PMPI_Comm_rank(comm, &rank);
    return rank == root;
}

static int *codes_at(fint codes)
{
    return IS(codes, errcodes_ignore) ? MPI_ERRCODES_IGNORE : codes;
}

EXPORTED void mpi_comm_spawn_(const char *command, const char *words, fint count, fint info,
                              fint root, fint comm, fint made, fint codes, fint code,
                              size_t command_length, size_t word_length)
{
    MPI_Comm own;
    bool leads = is_root(COMM, *root), bare = !leads || IS(words, argv_null);
    char *own_command = leads ? c_string(command, command_length) : NULL;
    char **own_words = bare ? MPI_ARGV_NULL : words_of(words, word_length, 1, 0);
    *code = MPI_Comm_spawn(own_command, own_words, *count, leads ? INFO : MPI_INFO_NULL, *root,
                           COMM, &own, codes_at(codes));
    if (*code == MPI_SUCCESS)
        *made = PMPI_Comm_c2f(own);
    free(own_command);
    if (!bare)
        free_words(own_words);
}

EXPORTED void mpi_comm_spawn_multiple_(fint kinds, const char *commands, const char *words,
                                       fint counts, fint infos, fint root, fint comm, fint made,
                                       fint codes, fint code, size_t command_length,
                                       size_t word_length)
{
    MPI_Comm own;
    bool leads = is_root(COMM, *root), bare = !leads || IS(words, argvs_null);
    int kind_count = leads && *kinds > 0 ? *kinds : 0;
    char **own_commands = calloc((size_t)kind_count + 1, sizeof *own_commands);
    char ***own_words = calloc((size_t)kind_count + 1, sizeof *own_words);
    MPI_Info *own_infos = calloc((size_t)kind_count + 1, sizeof *own_infos);
    bool enough = own_commands && own_words && own_infos;
    for (int kind = 0; kind < kind_count && enough; kind++) {
        own_commands[kind] = c_string(commands + (size_t)kind * command_length, command_length);
        own_words[kind] = bare ? NULL : words_of(words, word_length, *kinds, kind);
        own_infos[kind] = PMPI_Info_f2c(infos[kind]);
    }
    /* All come, also a root without memory; that has nothing to start, which MPI refuses. */
    *code = MPI_Comm_spawn_multiple(enough ? *kinds : 0, own_commands,
                                    bare ? MPI_ARGVS_NULL : own_words, counts, own_infos, *root,
                                    COMM, &own, codes_at(codes));
    if (*code == MPI_SUCCESS)
        *made = PMPI_Comm_c2f(own);
    for (int kind = 0; kind < kind_count && enough; kind++) {
        free(own_commands[kind]);
        free_words(own_words[kind]);
    }
    free(own_commands);
    free(own_words);
    free(own_infos);
}

#define MEETING(NAME, CALL)                                                                   \
    EXPORTED void mpi_##NAME##_(const char *port, fint info, fint root, fint comm, fint made, \
                                fint code, size_t length)                                     \
    {                                                                                         \
        MPI_Comm own;                                                                         \
        bool leads = is_root(COMM, *root);                                                    \
        char *own_port = leads ? c_string(port, length) : NULL;                               \
        *code = CALL(leads ? own_port : "", leads ? INFO : MPI_INFO_NULL, *root, COMM, &own); \
        if (*code == MPI_SUCCESS)                                                             \
            *made = PMPI_Comm_c2f(own);                                                       \
        free(own_port);                                                                       \
    }

MEETING(comm_connect, MPI_Comm_connect)
MEETING(comm_accept, MPI_Comm_accept)
