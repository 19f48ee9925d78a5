"""Reads Arrow's C stream interface with ctypes: what a library that takes our tables does, in few lines.

Source: https://arrow.apache.org/docs/format/CStreamInterface.html
"""

import ctypes as c


class Schema(c.Structure):
    """`struct ArrowSchema`."""


class Array(c.Structure):
    """`struct ArrowArray`."""


class Stream(c.Structure):
    """`struct ArrowArrayStream`."""


Schema._fields_ = [
    ("format", c.c_char_p), ("name", c.c_char_p), ("metadata", c.c_void_p), ("flags", c.c_int64),
    ("n_children", c.c_int64), ("children", c.POINTER(c.POINTER(Schema))),
    ("dictionary", c.c_void_p), ("release", c.CFUNCTYPE(None, c.POINTER(Schema))),
    ("private_data", c.c_void_p),
]  # fmt: skip
Array._fields_ = [
    ("length", c.c_int64), ("null_count", c.c_int64), ("offset", c.c_int64),
    ("n_buffers", c.c_int64), ("n_children", c.c_int64), ("buffers", c.POINTER(c.c_void_p)),
    ("children", c.POINTER(c.POINTER(Array))), ("dictionary", c.c_void_p),
    ("release", c.CFUNCTYPE(None, c.POINTER(Array))), ("private_data", c.c_void_p),
]  # fmt: skip
Stream._fields_ = [
    ("get_schema", c.CFUNCTYPE(c.c_int, c.POINTER(Stream), c.POINTER(Schema))),
    ("get_next", c.CFUNCTYPE(c.c_int, c.POINTER(Stream), c.POINTER(Array))),
    ("get_last_error", c.CFUNCTYPE(c.c_char_p, c.POINTER(Stream))),
    ("release", c.CFUNCTYPE(None, c.POINTER(Stream))), ("private_data", c.c_void_p),
]  # fmt: skip


def read(table: object) -> tuple[dict[str, str], list[int]]:
    """Return the columns with their Arrow formats, and the first column as whole numbers."""
    capsule = table.__arrow_c_stream__()  # type: ignore[attr-defined]
    pointer = c.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = c.c_void_p, [c.py_object, c.c_char_p]
    stream = Stream.from_address(pointer(capsule, b"arrow_array_stream"))
    schema, array = Schema(), Array()
    assert stream.get_schema(c.byref(stream), c.byref(schema)) == 0
    children = [schema.children[i].contents for i in range(schema.n_children)]
    formats = {child.name.decode(): child.format.decode() for child in children}
    schema.release(c.byref(schema))
    numbers: list[int] = []
    while stream.get_next(c.byref(stream), c.byref(array)) == 0 and array.release:
        first = array.children[0].contents
        values = c.cast(first.buffers[1], c.POINTER(c.c_uint64))
        numbers += values[first.offset : first.offset + first.length]
        array.release(c.byref(array))
    return formats, numbers
