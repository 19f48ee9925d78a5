//! Python exceptions: one base, one subclass for each error type of the core.

use pyo3::create_exception;
use pyo3::exceptions::PyException;

create_exception!(
    runflat,
    RunflatError,
    PyException,
    "Something that was given is wrong; the message says what is allowed."
);
create_exception!(
    runflat,
    FormatError,
    RunflatError,
    "A fabric file or other text input is wrong."
);
create_exception!(runflat, GeneratorError, RunflatError, "No machine has these parameters.");
create_exception!(runflat, FaultError, RunflatError, "These failures cannot be drawn or found.");
create_exception!(
    runflat,
    RoutingError,
    RunflatError,
    "An engine or table that does not exist or fit."
);
create_exception!(runflat, WorkloadError, RunflatError, "No workload has these parameters.");
create_exception!(
    runflat,
    FlitError,
    RunflatError,
    "Hosts, switches and cables that cannot be simulated flit by flit."
);
create_exception!(
    runflat,
    SparesError,
    RunflatError,
    "Spare nodes or substitutions that cannot be."
);
create_exception!(runflat, TableError, RunflatError, "A table of results is not as it should be.");
