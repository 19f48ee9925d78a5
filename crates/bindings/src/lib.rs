//! runflat's core for Python: converts types and errors, no logic.
// PyO3's macros name the Python signature; their argument lists follow it.
#![allow(clippy::needless_pass_by_value, clippy::too_many_arguments)]

use pyo3::prelude::*;

mod errors;
mod flit;
mod machine;
mod parts;
mod registered;
mod route_inputs;
mod routing;
mod simulation;
mod spares;
mod table;
mod tables;

/// The compiled half of the `runflat` package.
#[pymodule]
mod _core {
    use pyo3::prelude::*;

    #[pymodule_export]
    use super::errors::{
        FaultError, FlitError, FormatError, GeneratorError, RoutingError, RunflatError,
        SparesError, TableError, WorkloadError,
    };
    #[pymodule_export]
    use super::flit::{check_flit_options, flit_parameters};
    #[pymodule_export]
    use super::machine::Machine;
    #[pymodule_export]
    use super::registered::{
        check_engine, check_fault_model, check_generator, check_workload, crossings, engines,
        extrapolate_lost_paths, fault_models, fit_line, formats, generators, workloads,
    };
    #[pymodule_export]
    use super::routing::Routing;
    #[pymodule_export]
    use super::spares::{SparesJob, allocation_shape, check_substitution_policy, spare_share};
    #[pymodule_export]
    use super::table::Table;
    #[pymodule_export]
    use super::tables::{
        opensm_command, plan_update, read_guids, read_tables, table_formats, write_tables,
    };

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))?;
        module.add("COMMIT", env!("RUNFLAT_COMMIT"))
    }
}

/// Turns an error of the core into the Python exception of its kind.
fn raise<E: pyo3::PyTypeInfo>(error: impl std::fmt::Display) -> PyErr {
    PyErr::new::<E, _>(error.to_string())
}
