"""Compares tables of Arrow, whatever their encoding: `difference(one, other)`, `sorted_by_id(table)`,
`without_dictionaries(table)`; `with_views(table)` and back, `without_views(table)`."""
import pyarrow as pa


def difference(one, other):
    """What is not the same, as text; None where the columns, their types and all values are."""
    if one.num_rows != other.num_rows:
        return f"{other.num_rows} rows in place of {one.num_rows}"
    if one.column_names != other.column_names:
        return f"the columns {other.column_names} in place of {one.column_names}"
    for name in one.column_names:
        left, right = one.column(name), other.column(name)
        if not same_type(left.type, right.type):
            return f"{name} of {right.type} in place of {left.type}"
        left, right = decoded(left), decoded(right)
        if not left.equals(right.cast(left.type) if name == "_rowid" else right):
            mine, theirs = repr(left.to_pylist()), repr(right.to_pylist())
            if mine != theirs:
                at = next((at for at, (a, b) in enumerate(zip(left.to_pylist(), right.to_pylist())) if repr(a) != repr(b)), -1)
                return f"{name} ({left.type}) {right[at]!r} in place of {left[at]!r} in row {at}"
    return None


def decoded(column):
    """Without a dictionary, which differs from reader to reader."""
    kind = column.type
    if not pa.types.is_dictionary(kind):
        return column
    return pa.chunked_array([chunk.dictionary_decode() for chunk in column.chunks], kind.value_type)


def same_type(one, other):
    """Names of items are no part of it."""
    if one.equals(other):
        return True
    if one.num_fields != other.num_fields or one.num_fields == 0:
        return {str(one), str(other)} == {"int64", "uint64"}
    fields = [(one.field(at), other.field(at)) for at in range(one.num_fields)]
    return one.id == other.id and all(
        same_type(a.type, b.type) and (not pa.types.is_struct(one) or a.name == b.name) for a, b in fields
    )


def without_dictionaries(table):
    return pa.table({name: decoded(table.column(name)) for name in table.column_names})


VIEWS = {pa.string(): pa.string_view(), pa.binary(): pa.binary_view()}
PLAIN = {view: kind for kind, view in VIEWS.items()}


def recast(table, kinds):
    """Types are given others of their kinds, in lists and structs too."""

    def other(kind):
        if pa.types.is_list(kind):
            return pa.list_(kind.value_field.with_type(other(kind.value_type)))
        if pa.types.is_struct(kind):
            return pa.struct([field.with_type(other(field.type)) for field in kind])
        return kinds.get(kind, kind)

    return table.cast(pa.schema([field.with_type(other(field.type)) for field in table.schema], table.schema.metadata))


def with_views(table):
    return recast(table, VIEWS)


def without_views(table):
    return recast(table, PLAIN)


def sorted_by_id(table):
    """Ids are unique."""
    table = without_dictionaries(table)
    return table.take(pa.compute.sort_indices(table, [("id", "ascending")]))
