"""`lent`: large named tuples are handed from compiled function to compiled function by one pointer.

numba hands a named tuple over as all the numbers that are in it: a state of sixty arrays is five
hundred arguments, which every function takes apart and puts together again. That was nine tenths of
the code that the compiler got to see. Here whoever has such a tuple by value puts it in its own
frame, once a call, and functions get its address, read the fields that they use, and pass the
address on. Where Python calls, the frame is filled field by field: there is no value at all.

A tuple never changes, and the frame outlives the call, so the address is as good as the value for
as long as it goes down only: a function whose result would hold one is compiled with values instead
(`holds_lent`), and so is one that does more with a tuple than read its fields. Its memory is
reached through this address alone, which LLVM is told (`mark_lent`): otherwise it would read a
field again after every store to an array.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import (
    NativeValue,
    lower_builtin,
    lower_cast,
    lower_getattr_generic,
    models,
    register_model,
    unbox,
)

LEAST = 16  # words; smaller tuples stay numbers, in registers
_POINTEE: Any = ir.global_context.get_identified_type("lent")
if _POINTEE.is_opaque:
    _POINTEE.set_body(ir.IntType(8))


def _known(words: tuple[str, ...]) -> list[str]:
    """Return the first of these words that llvmlite knows, if any."""
    for word in words:
        try:
            ir.values.ArgumentAttributes((word,))
        except ValueError:
            continue
        return [word]
    return []


# What holds of an address. LLVM has renamed the second; llvmlite of numba 0.61 knows the old name only.
_WORDS = ["noalias", *_known(("captures(none)", "nocapture"))]


class Lent(types.Type):
    """A named tuple that stands in the frame of somebody further up."""

    def __init__(self, whole: Any) -> None:
        self.whole = whole
        super().__init__(name=f"lent {whole}")

    @property
    def key(self) -> Any:
        """What tells one from another."""
        return "lent", self.whole.key

    @property
    def mangling_args(self) -> tuple[str, tuple[Any, ...]]:
        """What stands for it in the names of functions: they are told apart by their numbers."""
        return f"lent{self.whole.instance_class.__name__}", ()


@register_model(Lent)
class _Model(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Lent) -> None:
        super().__init__(manager, kind, _POINTEE.as_pointer())


def lent(kind: Any) -> Any:
    """Return the type by which a function gets an argument: large named tuples are lent."""
    if isinstance(kind, types.BaseNamedTuple) and _words(kind) >= LEAST:
        return Lent(kind)
    return kind


def field_type(kind: Lent, name: str) -> Any:
    """Return the type of a field, which may be lent in its turn, or None if there is none."""
    fields = kind.whole.fields
    return lent(kind.whole[fields.index(name)]) if name in fields else None


def item_type(kind: Lent, index: int | slice) -> Any:
    """Return the type of an item, or of several, by value."""
    found = kind.whole.types[index]
    return types.BaseTuple.from_types(found) if isinstance(index, slice) else found


def returned(kind: Any) -> Any:
    """Return the type of an argument that is not lent."""
    return kind.whole if isinstance(kind, Lent) else kind


def holds_lent(kind: Any) -> bool:
    """Return whether values of a type hold an address of a lent tuple."""
    if isinstance(kind, Lent):
        return True
    # A tuple has several, a list or an array one of items, and what may be None one of its own.
    inside = (*getattr(kind, "types", ()), getattr(kind, "dtype", 0), getattr(kind, "type", 0))
    return any(holds_lent(entry) for entry in inside if isinstance(entry, types.Type))


def mark_lent(module: Any) -> None:
    """Tell LLVM what holds of lent tuples among the arguments of a module's functions."""
    for function in module.functions:
        for argument in function.args:
            if getattr(argument.type, "pointee", None) is _POINTEE:
                for word in _WORDS:
                    argument.add_attribute(word)


@functools.cache
def _words(kind: Any) -> int:
    """Return about how many numbers a type is made of."""
    if isinstance(kind, types.BaseTuple):
        entries: Any = kind
        return sum(_words(entry) for entry in entries.types)
    return 5 + 2 * kind.ndim if isinstance(kind, types.Array) else 1


@lower_getattr_generic(Lent)
def _field(context: Any, builder: Any, typ: Lent, value: Any, attr: str) -> Any:
    place = typ.whole.fields.index(attr)
    kind = lent(typ.whole[place])
    # A tuple that was made of a lent one holds its address, which is read like a number.
    if isinstance(kind, Lent) and not isinstance(typ.whole[place], Lent):
        return builder.bitcast(_address(context, builder, typ, value, place), _POINTEE.as_pointer())
    found = _load(context, builder, typ, value, place)
    return _counted(context, builder, kind, found)


@lower_builtin("static_getitem", Lent, types.IntegerLiteral)
@lower_builtin("static_getitem", Lent, types.SliceLiteral)
def _item(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    (typ, _), (value, index) = sig.args, args
    places = range(len(typ.whole))[index]
    if isinstance(index, int):
        found = _load(context, builder, typ, value, places)
    else:
        parts = [_load(context, builder, typ, value, place) for place in places]
        found = context.make_tuple(builder, sig.return_type, parts)
    return _counted(context, builder, sig.return_type, found)


def _counted(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    """Return a value that was read, with one more user for each array in it."""
    if context.enable_nrt:
        context.nrt.incref(builder, kind, value)
    return value


def _load(context: Any, builder: Any, typ: Lent, value: Any, place: int) -> Any:
    kind = context.get_value_type(typ.whole[place])
    address = _address(context, builder, typ, value, place)
    return builder.load(builder.bitcast(address, kind.as_pointer()))


def _address(context: Any, builder: Any, typ: Lent, value: Any, place: int) -> Any:
    offset = _offset(context, typ.whole, context.get_value_type(typ.whole), place)
    byte = builder.bitcast(value, ir.IntType(8).as_pointer())
    return builder.gep(byte, [ir.IntType(32)(offset)], inbounds=True)


_offsets: dict[tuple[Any, int], int] = {}


def _offset(context: Any, kind: Any, whole: Any, place: int) -> int:
    """Return how many bytes into a tuple a field begins."""
    if (kind, place) not in _offsets:
        if isinstance(whole, ir.ArrayType):  # all fields are of one type
            found = place * context.get_abi_sizeof(whole.element)
        else:
            found = whole.get_element_offset(context.target_data, place)
        _offsets[kind, place] = found
    return _offsets[kind, place]


@unbox(Lent)
def _take(typ: Lent, given: Any, c: Any) -> Any:
    """Fill the frame of what Python calls, field by field, and give arrays back when the call is over."""
    with c.builder.goto_entry_block():
        room = c.builder.alloca(c.context.get_value_type(typ.whole))
    wrong, strange = ir.IntType(32)(0), ir.IntType(1)(0)
    held, endings = list[tuple[Any, Any]](), list[Any]()
    for kind, item, address in _parts(c, typ, given, room):
        place = c.builder.bitcast(address, c.context.get_value_type(kind).as_pointer())
        if isinstance(kind, types.Array):
            bytes_there = c.builder.bitcast(address, c.pyapi.voidptr)
            code = c.pyapi.nrt_adapt_ndarray_from_python(item, bytes_there)
            wrong = c.builder.or_(wrong, code)
        else:
            native = c.unbox(kind, item)
            c.builder.store(native.value, place)
            strange = c.builder.or_(strange, native.is_error)
            endings.append(native.cleanup)
        held.append((kind, place))
    missing = c.builder.icmp_signed("!=", wrong, wrong.type(0))
    with c.builder.if_then(missing, likely=False):
        c.pyapi.err_set_string("PyExc_TypeError", "an array of a named tuple cannot be read")

    def give_back() -> None:
        for ending in filter(None, endings):
            ending()
        for kind, place in held:
            c.context.nrt.decref(c.builder, kind, c.builder.load(place))

    address = c.builder.bitcast(room, _POINTEE.as_pointer())
    return NativeValue(address, c.builder.or_(strange, missing), give_back)


def _parts(c: Any, typ: Lent, given: Any, room: Any) -> Iterator[tuple[Any, Any, Any]]:
    """Yield type, object and address of the fields of a tuple, and of those of tuples in it."""
    for place, kind in enumerate(typ.whole.types):
        item = c.pyapi.tuple_getitem(given, place)
        address = _address(c.context, c.builder, typ, room, place)
        if isinstance(kind, types.BaseTuple):
            yield from _parts(c, Lent(kind), item, address)
        else:
            yield kind, item, address


@lower_cast(types.BaseNamedTuple, Lent)
def _lend(context: Any, builder: Any, given: Any, wanted: Lent, value: Any) -> Any:
    with builder.goto_entry_block():
        room = builder.alloca(value.type)
    builder.store(value, room)
    return builder.bitcast(room, _POINTEE.as_pointer())


@lower_cast(Lent, types.BaseNamedTuple)
def _give(context: Any, builder: Any, given: Lent, wanted: Any, value: Any) -> Any:
    whole = context.get_value_type(wanted)
    return builder.load(builder.bitcast(value, whole.as_pointer()))
