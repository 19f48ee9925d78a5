/* Fortran's names of calls that the library does not watch, for an Open MPI
 * that is packaged without its Fortran library. */
#include <mpi.h>
#include <string.h>

void mpi_comm_rank_(MPI_Fint *comm, MPI_Fint *rank, MPI_Fint *code) {
  *code = MPI_Comm_rank(MPI_Comm_f2c(*comm), rank);
}

void mpi_comm_size_(MPI_Fint *comm, MPI_Fint *size, MPI_Fint *code) {
  *code = MPI_Comm_size(MPI_Comm_f2c(*comm), size);
}

/* The status is not given back: the example does not look at it. */
void mpi_sendrecv_(void *out, MPI_Fint *out_count, MPI_Fint *out_type,
                   MPI_Fint *to, MPI_Fint *out_tag, void *in,
                   MPI_Fint *in_count, MPI_Fint *in_type, MPI_Fint *from,
                   MPI_Fint *in_tag, MPI_Fint *comm, MPI_Fint *status,
                   MPI_Fint *code) {
  (void)status;
  *code = MPI_Sendrecv(out, *out_count, MPI_Type_f2c(*out_type), *to, *out_tag,
                       in, *in_count, MPI_Type_f2c(*in_type), *from, *in_tag,
                       MPI_Comm_f2c(*comm), MPI_STATUS_IGNORE);
}

void mpi_comm_remote_size_(MPI_Fint *comm, MPI_Fint *size, MPI_Fint *code) {
  *code = MPI_Comm_remote_size(MPI_Comm_f2c(*comm), size);
}

void mpi_comm_get_parent_(MPI_Fint *parent, MPI_Fint *code) {
  MPI_Comm own;
  *code = MPI_Comm_get_parent(&own);
  *parent = MPI_Comm_c2f(own);
}

void mpi_comm_group_(MPI_Fint *comm, MPI_Fint *group, MPI_Fint *code) {
  MPI_Group own;
  *code = MPI_Comm_group(MPI_Comm_f2c(*comm), &own);
  *group = MPI_Group_c2f(own);
}

void mpi_group_incl_(MPI_Fint *group, MPI_Fint *count, MPI_Fint *ranks,
                     MPI_Fint *made, MPI_Fint *code) {
  MPI_Group own;
  *code = MPI_Group_incl(MPI_Group_f2c(*group), *count, ranks, &own);
  *made = MPI_Group_c2f(own);
}

void mpi_error_class_(MPI_Fint *error, MPI_Fint *class, MPI_Fint *code) {
  *code = MPI_Error_class(*error, class);
}

void mpi_info_create_(MPI_Fint *info, MPI_Fint *code) {
  MPI_Info own;
  *code = MPI_Info_create(&own);
  *info = MPI_Info_c2f(own);
}

void mpi_info_set_(MPI_Fint *info, const char *key, const char *value,
                   MPI_Fint *code, size_t key_length, size_t value_length) {
  char own_key[MPI_MAX_INFO_KEY] = "", own_value[MPI_MAX_INFO_VAL] = "";
  memcpy(own_key, key, key_length);
  memcpy(own_value, value, value_length);
  *code = MPI_Info_set(MPI_Info_f2c(*info), own_key, own_value);
}

void mpi_open_port_(MPI_Fint *info, char *port, MPI_Fint *code, size_t length) {
  char own[MPI_MAX_PORT_NAME];
  *code = MPI_Open_port(MPI_Info_f2c(*info), own);
  memset(port, ' ', length);
  memcpy(port, own, strlen(own));
}

void mpi_win_fence_(MPI_Fint *assertion, MPI_Fint *window, MPI_Fint *code) {
  *code = MPI_Win_fence(*assertion, MPI_Win_f2c(*window));
}

void mpi_put_(void *out, MPI_Fint *count, MPI_Fint *type, MPI_Fint *to,
              MPI_Aint *place, MPI_Fint *there_count, MPI_Fint *there_type,
              MPI_Fint *window, MPI_Fint *code) {
  *code = MPI_Put(out, *count, MPI_Type_f2c(*type), *to, *place, *there_count,
                  MPI_Type_f2c(*there_type), MPI_Win_f2c(*window));
}
