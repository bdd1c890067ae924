"""Reports errors of operators in one sentence, never as a traceback.

registration.py guards every operator that it registers, so no operator is forgotten. A poll raises
Refused with its reason. An error ends the operator: the method `abandon(context)`, if the class
defines it, undoes unfinished work, and the operator reports the sentence from
araplbs/base/faults.py. `reason_of(error)`, if the class defines it, returns another error to report
instead.

A task evaluates the scene, including drivers and handlers of other add-ons. If such code calls an
operator while another operator runs, the call is refused, because it would change data that is
being read. An operator called in another thread, during an evaluation or during a render is refused
as well. An operator that ends by starting another one, such as the OK of a dialog, calls
handing_over().
"""

import threading
from contextlib import contextmanager
from functools import wraps

from araplbs.base.faults import print_traceback, sentence
from araplbs.base.refusal import Refused

from ..blender.data.references import words_of
from ..languages.translate import translated

ELSEWHERE = "Blender is evaluating the scene: try again when it has finished"

_at_work = []  # operators whose methods are running


def guarded(cls):
    """Returns the operator, whose methods that Blender calls are guarded."""
    for name, guard in _DOORS.items():
        method = getattr(cls, name, None)
        if method and not hasattr(method, "guarded"):
            setattr(cls, name, guard(method))
    return cls


def _of_context(method):
    @wraps(method)  # Blender counts the arguments of its callbacks
    def call(self, context):
        return _call(method, self, context)

    call.guarded = True
    return call


def _of_event(method):
    @wraps(method)
    def call(self, context, event):
        return _call(method, self, context, event)

    call.guarded = True
    return call


def _call(method, operator, context, *event):
    if busy := _busy():
        operator.report({"ERROR"}, translated(busy))
        return {"CANCELLED"}
    _at_work.append(operator.bl_label)
    try:
        return method(operator, context, *event)
    except BaseException as error:
        _abandon(operator, context)
        if not isinstance(error, Exception):
            raise
        if hasattr(operator, "reason_of"):
            error = operator.reason_of(error)
        operator.report({"ERROR"}, translated(sentence(operator.bl_label, error)))
        return {"CANCELLED"}
    finally:
        _at_work.clear()


@contextmanager
def handing_over():
    """Marks that the running operator only has to start another one. If the other operator refuses,
    the running operator reports the reason."""
    held = _at_work.copy()
    _at_work.clear()
    try:
        yield
    except RuntimeError as error:  # Blender raises this for an error that an operator reports
        raise Refused(words_of(error)) from None
    finally:
        _at_work[:] = held


def _busy():
    """The reason why no operator can start now, or None."""
    if _at_work:
        return f"{_at_work[0]} is running: try again when it has finished"
    return ELSEWHERE if _is_elsewhere() else None


def _is_elsewhere():
    return threading.current_thread() is not threading.main_thread()


def _abandon(operator, context):
    if not hasattr(operator, "abandon"):
        return
    try:
        operator.abandon(context)
    except Exception as error:  # the first error should be reported
        print_traceback(error)


def _of_poll(method):
    poll = method.__func__

    @classmethod
    @wraps(poll)
    def call(cls, context):
        if _is_elsewhere():  # parts of the context are unavailable
            cls.poll_message_set(translated(ELSEWHERE))
            return False
        try:
            return poll(cls, context)
        except Refused as reason:  # no error to report, because every panel redraw polls
            cls.poll_message_set(translated(str(reason)))
            return False
        except Exception as error:
            cls.poll_message_set(translated(sentence(cls.bl_label, error)))
            return False

    call.__func__.guarded = True
    return call


_DOORS = {"poll": _of_poll, "invoke": _of_event, "execute": _of_context, "modal": _of_event}
