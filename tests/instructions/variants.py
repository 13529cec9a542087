"""The variants of a form, and the choice of those that become cases."""
import place as places
from case import Variant, build


def applicable(form):
    """The variants that make sense for this form, the plain one first."""
    modes = form.modes
    yield Variant(modes[0], mode=modes[0])
    if "usr" in modes:
        yield Variant("usr", mode="usr")
    if form.conditional:
        for passing in (True, False):
            yield Variant("", mode=modes[-1], passing=passing)
    if form.exempt and form.outcome == "landed":
        return
    if form.literal:
        return
    if form.isa == "thumb":
        yield Variant("half", mode=modes[-1], slot=places.HALF)
        if form.wide:
            yield Variant("split", mode=modes[0], slot=places.SPLIT)
    else:
        yield Variant("edge", mode=modes[-1], slot=places.EDGE)
    if form.op == "" or form.outcome != "next":
        return
    yield Variant("be", mode=modes[0], big_endian=True)
    for place in ("first", "last"):
        yield Variant(place, place, mode=modes[-1])
    if form.op in ("R", "W"):
        yield from elsewhere(form)


def elsewhere(form):
    modes = form.modes
    single = form.core and not any(word in form.name for word in ("ldrd", "strd", "ldm", "stm", "push", "pop"))
    yield Variant("lanes", "lanes", mode=modes[0])
    for place in ("cross", "contiguous", "enter", "leave"):
        if place != "contiguous" or form.op == "R":
            yield Variant(place, place, mode=modes[0])
    if single and form.size > 1:
        for place in ("off1", "off2", "off3"):
            yield Variant(place, place, mode=modes[-1])
    if not form.core and "ex" not in form.name:
        yield Variant("four", "four", mode=modes[0])
    if "ex" not in form.name:
        yield Variant("private", "private", mode=modes[-1])


def cases_of(forms, rng, extra, few):
    """The plain variant of each form and `extra` (`few`) of the others, the rarest so far."""
    used, cases, names = {}, [], set()
    for form in forms:
        first, *others = applicable(form)
        others.sort(key=lambda v: (used.get((form.isa, form.op, v.name, v.passing), 0), rng.random()))
        made = []
        for variant in [first] + others:
            if len(made) > (few if form.few else extra):
                break
            case = build(form, variant, rng)
            if case is None or case.name in names:
                continue
            key = (form.isa, form.op, variant.name, variant.passing)
            used[key] = used.get(key, 0) + 1
            names.add(case.name)
            made.append(case)
        cases += made
    return cases
