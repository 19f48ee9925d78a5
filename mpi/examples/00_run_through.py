"""Run-through for mpi4py: a manager hands out work; workers that die do not matter, their work is done by others.

    runflat mpi run -n 5 --kill 2@0.5 -- python 00_run_through.py 1000

The same job as 00_run_through.c. Nothing of runflat is called: the launcher has put the library before the program. MPI's errors are
exceptions in mpi4py; one that says that a process has failed (`FAILURES`) ends nothing here but the wait for that process.
Source: Bouteiller and Bosilca 2022, Figure 1, first case.
"""

from __future__ import annotations

import array
import sys
import time

from mpi4py import MPI

WORK, END = 1, 2
FAILURES = (MPI.ERR_PROC_FAILED, MPI.ERR_PROC_FAILED_PENDING, MPI.ERR_REVOKED)


def be_worker(comm: MPI.Comm) -> None:
    """Work on what comes, until the manager says that it is all."""
    status, task = MPI.Status(), array.array("q", [0])
    while True:
        comm.Recv(task, source=0, status=status)
        if status.Get_tag() == END:
            return
        time.sleep(0.003)  # the work that a real program would do
        comm.Send(array.array("q", [task[0] ** 2]), dest=0, tag=WORK)


class Crew:
    """What the manager knows of its workers."""

    def __init__(self, comm: MPI.Comm) -> None:
        self.comm = comm
        self.idle = list(range(1, comm.Get_size()))
        self.lost = 0
        self.busy: dict[int, tuple[int, array.array[int], MPI.Request]] = {}
        """By rank: the task, where its result will be, and the request for it."""

    def give(self, worker: int, task: int) -> None:
        """Give a task to a worker. If it is dead, waiting for its answer will tell."""
        result = array.array("q", [0])
        self.busy[worker] = task, result, self.comm.Irecv(result, source=worker, tag=WORK)
        self.send(worker, task, WORK)

    def send(self, worker: int, number: int, tag: int) -> None:
        """Send, whether the worker lives or not."""
        try:
            self.comm.Send(array.array("q", [number]), dest=worker, tag=tag)
        except MPI.Exception as error:
            if error.Get_error_class() not in FAILURES:
                raise

    def answers(self) -> tuple[list[int], list[int]]:
        """Results that have come, and tasks of workers that have died."""
        results, undone = [], []
        for worker, (task, result, request) in list(self.busy.items()):
            try:
                if not request.Test():
                    continue
                results.append(result[0])
                self.idle.append(worker)
            except MPI.Exception as error:
                if error.Get_error_class() not in FAILURES:
                    raise
                undone.append(task)
                self.lost += 1
            del self.busy[worker]
        return results, undone


def be_manager(comm: MPI.Comm, tasks: int) -> int:
    """Hand out all tasks; how many nobody is left for."""
    crew, todo, total = Crew(comm), list(range(tasks, 0, -1)), 0
    while crew.busy or (todo and crew.idle):
        while todo and crew.idle:
            crew.give(crew.idle.pop(), todo.pop())
        results, undone = crew.answers()
        total += sum(results)
        todo += undone
        if not results:
            time.sleep(0.0005)
    for worker in crew.idle:
        crew.send(worker, 0, END)
    if todo:
        print(f"{len(todo)} of {tasks} tasks are not done: no worker is left", flush=True)
    else:
        print(f"{tasks} tasks, sum of squares {total}, workers lost {crew.lost}", flush=True)
    return len(todo)


def main() -> int:
    """Run the job."""
    comm = MPI.COMM_WORLD
    if comm.Get_rank() == 0:
        return 1 if be_manager(comm, int(sys.argv[1]) if len(sys.argv) > 1 else 1000) else 0
    try:
        be_worker(comm)
    except MPI.Exception as error:
        if error.Get_error_class() not in FAILURES:
            raise
        print("the manager is gone", flush=True)
    return 0


status = main()
MPI.Finalize()  # a process that ends with a status before it has failed
sys.exit(status)
