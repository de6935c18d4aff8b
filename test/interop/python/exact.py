"""Values of Arrow columns as plain JSON, bit by bit, in the manner of the fixtures."""

import bisect
import math

import pyarrow as pa
import pyarrow.types as is_


def number(value):
    if value is None:
        return None
    if math.isnan(value):
        return "number NaN"
    if math.isinf(value):
        return "number Infinity" if value > 0 else "number -Infinity"
    return "-0" if value == 0 and math.copysign(1, value) < 0 else value


def wide(value):
    return None if value is None else f"{value}n"


def hexadecimal(value):
    if value is None:
        return None
    return (value.encode() if isinstance(value, str) else bytes(value)).hex()


def _interval(name):
    """pyarrow has no class for two of the intervals, but reads and prints them."""
    return lambda type: str(type) == name


#: How arrays of a type are seen as another of the same layout, and then each value.
VIEWS = [
    (is_.is_float16, pa.uint16(), None),
    (lambda type: is_.is_decimal(type) and type.bit_width == 32, pa.uint32(), None),
    (lambda type: is_.is_decimal(type) and type.bit_width == 64, pa.binary(8), hexadecimal),
    (is_.is_decimal128, pa.binary(16), hexadecimal),
    (is_.is_decimal256, pa.binary(32), hexadecimal),
    (lambda type: is_.is_date32(type) or is_.is_time32(type), pa.int32(), None),
    (
        lambda type: is_.is_date64(type)
        or is_.is_time64(type)
        or is_.is_timestamp(type)
        or is_.is_duration(type),
        pa.int64(),
        wide,
    ),
    (_interval("month_interval"), pa.int32(), None),
    (_interval("day_time_interval"), pa.binary(8), hexadecimal),
    (is_.is_interval, pa.binary(16), hexadecimal),
]


def exact(array):
    """The values of a column, nested ones as lists."""
    type = array.type
    # pyarrow crashes where it is asked for the parts of a union without rows.
    if len(array) == 0:
        return []
    if is_.is_dictionary(type):
        values = exact(array.dictionary)
        return [None if at is None else values[at] for at in array.indices.to_pylist()]
    if is_.is_union(type):
        return _union(array)
    if is_.is_map(type):
        pairs = list(zip(exact(array.keys), exact(array.items)))
        return _lists(array, [list(pair) for pair in pairs])
    if is_.is_struct(type):
        columns = [exact(array.field(at)) for at in range(type.num_fields)]
        rows = [list(row) for row in zip(*columns)]
        return [row if there else None for row, there in zip(rows, array.is_valid().to_pylist())]
    if is_.is_fixed_size_list(type):
        size = type.list_size
        values = exact(array.values)
        first = array.offset
        return [
            values[(first + at) * size : (first + at + 1) * size] if there else None
            for at, there in enumerate(array.is_valid().to_pylist())
        ]
    if is_.is_list(type) or is_.is_large_list(type):
        return _lists(array, exact(array.values))
    if is_.is_list_view(type) or is_.is_large_list_view(type):
        values = exact(array.values)
        views = zip(array.offsets.to_pylist(), array.sizes.to_pylist(), array.is_valid().to_pylist())
        return [values[start : start + size] if there else None for start, size, there in views]
    if is_.is_run_end_encoded(type):
        ends, values = array.run_ends.to_pylist(), exact(array.values)
        rows = range(array.offset, array.offset + len(array))
        return [values[bisect.bisect_right(ends, row)] for row in rows]
    for applies, view, form in VIEWS:
        if applies(type):
            values = array.view(view).to_pylist()
            return values if form is None else [form(value) for value in values]
    values = array.to_pylist()
    if is_.is_floating(type):
        return [number(value) for value in values]
    if type in (pa.int64(), pa.uint64()):
        return [wide(value) for value in values]
    if is_.is_null(type) or is_.is_boolean(type) or is_.is_integer(type):
        return values
    return [hexadecimal(value) for value in values]


def _lists(array, values):
    """`values` are all of the child's, whatever part of it the array uses."""
    offsets = array.offsets.to_pylist()
    return [
        values[start:end] if there else None
        for start, end, there in zip(offsets, offsets[1:], array.is_valid().to_pylist())
    ]


def _union(array):
    codes = {array.type.field(at).name: at for at in range(array.type.num_fields)}
    assert len(codes) == array.type.num_fields
    dense = array.type.mode == "dense"
    children = [exact(array.field(at)) for at in range(array.type.num_fields)]
    positions = array.offsets.to_pylist() if dense else range(len(array))
    child_of = {code: at for at, code in enumerate(array.type.type_codes)}
    return [
        {"id": code, "value": children[child_of[code]][position]}
        for code, position in zip(array.type_codes.to_pylist(), positions)
    ]
