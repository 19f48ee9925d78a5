//! Tables of results: columns in Arrow, read by any library that speaks its C interface, kept as Parquet.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::builder::{BooleanBuilder, Float64Builder, StringBuilder, UInt64Builder};
use arrow_array::cast::AsArray;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::types::{Float64Type, UInt64Type};
use arrow_array::{
    Array, ArrayRef, BooleanArray, RecordBatch, RecordBatchIterator, StringArray, UInt64Array,
};
use arrow_schema::{DataType, Field, Schema};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ParquetRecordBatchReaderBuilder};
use parquet::basic::Compression;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule, PyDict, PyList};

use crate::errors::TableError;

/// Rows of results by column.
#[pyclass(module = "runflat", frozen)]
pub struct Table {
    batch: RecordBatch,
    metadata: BTreeMap<String, String>,
}

/// One column of a table that the bindings make themselves.
pub struct Column(ArrayRef);

impl Column {
    /// Whole numbers.
    pub fn int(values: impl Iterator<Item = u64>) -> Self {
        Column(Arc::new(UInt64Array::from_iter_values(values)))
    }

    /// Texts.
    pub fn text(values: impl Iterator<Item = String>) -> Self {
        Column(Arc::new(StringArray::from_iter_values(values)))
    }

    /// Yes or no.
    pub fn flag(values: impl Iterator<Item = bool>) -> Self {
        Column(Arc::new(values.map(Some).collect::<BooleanArray>()))
    }
}

impl Table {
    /// A table of named columns of one length.
    pub fn from_columns(columns: Vec<(&str, Column)>) -> PyResult<Self> {
        let columns = columns.into_iter().map(|(name, column)| (name, column.0, true));
        let batch = RecordBatch::try_from_iter_with_nullable(columns).map_err(wrong)?;
        Ok(Table { batch, metadata: BTreeMap::new() })
    }
}

fn wrong(error: impl std::fmt::Display) -> PyErr {
    TableError::new_err(error.to_string())
}

#[pymethods]
impl Table {
    /// A table from rows; `columns` is `[(name, kind)]` with kind one of `int`, `float`, `str`, `bool`.
    #[staticmethod]
    fn from_rows(columns: Vec<(String, String)>, rows: Vec<Bound<'_, PyDict>>) -> PyResult<Self> {
        let mut fields = Vec::new();
        let mut arrays = Vec::new();
        for (name, kind) in &columns {
            let array = column(name, kind, &rows)?;
            fields.push(Field::new(name, array.data_type().clone(), true));
            arrays.push(array);
        }
        let schema = Arc::new(Schema::new(fields));
        let batch = RecordBatch::try_new(schema, arrays).map_err(wrong)?;
        Ok(Table { batch, metadata: BTreeMap::new() })
    }

    /// A table and its metadata from the bytes of a Parquet file.
    #[staticmethod]
    fn from_parquet(data: &[u8]) -> PyResult<Self> {
        let bytes = bytes::Bytes::copy_from_slice(data);
        let reader = ArrowReaderMetadata::load(&bytes, Default::default()).map_err(wrong)?;
        let pairs = reader.metadata().file_metadata().key_value_metadata();
        let metadata = pairs.into_iter().flatten().filter_map(|pair| {
            let value = pair.value.clone().filter(|_| pair.key != "ARROW:schema")?;
            Some((pair.key.clone(), value))
        });
        let metadata = metadata.collect();
        let fields = reader.schema().fields().clone();
        let schema = Arc::new(Schema::new(fields));
        let rows = usize::try_from(reader.metadata().file_metadata().num_rows()).unwrap_or(0);
        let mut batches = ParquetRecordBatchReaderBuilder::new_with_metadata(bytes, reader)
            .with_batch_size(rows.max(1))
            .build()
            .map_err(wrong)?;
        let batch = match batches.next().transpose().map_err(wrong)? {
            None => RecordBatch::new_empty(schema),
            Some(batch) => RecordBatch::try_new(schema, batch.columns().to_vec()).map_err(wrong)?,
        };
        if batch.num_rows() != rows {
            return Err(wrong("the file is in several parts; write it as one table"));
        }
        Ok(Table { batch, metadata })
    }

    /// The bytes of a Parquet file with `metadata` as its key-value pairs.
    fn to_parquet<'py>(
        &self,
        py: Python<'py>,
        metadata: Vec<(String, String)>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let pairs = metadata.into_iter().map(|(key, value)| KeyValue::new(key, value)).collect();
        let properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_key_value_metadata(Some(pairs))
            .set_created_by(concat!("runflat ", env!("CARGO_PKG_VERSION")).to_owned())
            .build();
        let mut bytes = Vec::new();
        let mut writer = ArrowWriter::try_new(&mut bytes, self.batch.schema(), Some(properties))
            .map_err(wrong)?;
        writer.write(&self.batch).map_err(wrong)?;
        writer.close().map_err(wrong)?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// What a file says of its table.
    #[getter]
    fn metadata(&self) -> BTreeMap<String, String> {
        self.metadata.clone()
    }

    #[getter]
    fn column_names(&self) -> Vec<String> {
        self.batch.schema().fields().iter().map(|field| field.name().clone()).collect()
    }

    fn __len__(&self) -> usize {
        self.batch.num_rows()
    }

    /// The rows as dictionaries.
    fn to_rows<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let names = self.column_names();
        let rows = PyList::empty(py);
        for row in 0..self.batch.num_rows() {
            let record = PyDict::new(py);
            for (name, column) in names.iter().zip(self.batch.columns()) {
                record.set_item(name, cell(py, column, row)?)?;
            }
            rows.append(record)?;
        }
        Ok(rows)
    }

    /// One column as a list.
    fn column<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyList>> {
        let column = self.batch.column_by_name(name).ok_or_else(|| {
            wrong(format!(
                "there is no column `{name}`; there are {}",
                self.column_names().join(", ")
            ))
        })?;
        let cells = (0..column.len()).map(|row| cell(py, column, row));
        PyList::new(py, cells.collect::<PyResult<Vec<_>>>()?)
    }

    /// Arrow's C stream interface: what pandas, polars, pyarrow and DuckDB read tables by.
    ///
    /// The schema that a reader may ask for is a wish, which the interface lets us leave unheard.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        let batches = std::iter::once(Ok(self.batch.clone()));
        let reader = RecordBatchIterator::new(batches, self.batch.schema());
        let stream = FFI_ArrowArrayStream::new(Box::new(reader));
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }

    fn __repr__(&self) -> String {
        format!(
            "<runflat.Table {} rows: {}>",
            self.batch.num_rows(),
            self.column_names().join(", ")
        )
    }
}

fn column(name: &str, kind: &str, rows: &[Bound<'_, PyDict>]) -> PyResult<ArrayRef> {
    macro_rules! collect {
        ($builder:ident, $type:ty) => {{
            let mut builder = $builder::new();
            for row in rows {
                let value = row.get_item(name)?;
                builder.append_option(
                    value.map(|value| value.extract::<Option<$type>>()).transpose()?.flatten(),
                );
            }
            Ok(Arc::new(builder.finish()))
        }};
    }
    match kind {
        "int" => collect!(UInt64Builder, u64),
        "float" => collect!(Float64Builder, f64),
        "bool" => collect!(BooleanBuilder, bool),
        "str" => collect!(StringBuilder, String),
        _ => Err(wrong(format!(
            "column `{name}` is of kind `{kind}`; kinds are int, float, str, bool"
        ))),
    }
}

fn cell<'py>(py: Python<'py>, column: &ArrayRef, row: usize) -> PyResult<Bound<'py, PyAny>> {
    if column.is_null(row) {
        return Ok(py.None().into_bound(py));
    }
    match column.data_type() {
        DataType::UInt64 => {
            Ok(column.as_primitive::<UInt64Type>().value(row).into_pyobject(py)?.into_any())
        }
        DataType::Float64 => {
            Ok(column.as_primitive::<Float64Type>().value(row).into_pyobject(py)?.into_any())
        }
        DataType::Boolean => {
            Ok(column.as_boolean().value(row).into_pyobject(py)?.to_owned().into_any())
        }
        DataType::Utf8 => Ok(column.as_string::<i32>().value(row).into_pyobject(py)?.into_any()),
        other => Err(wrong(format!("columns of type {other} are not written by runflat"))),
    }
}
