"""Keeps the report of the last run for scripts, as scene.araplbs.last_report. The report is kept in
memory, never in the file."""

import bpy

_reports = {}  # by session_uid of the scene


def keep_report(report):
    """Stores the report of an operator that has ended in the current scene; None if the operator
    has no report."""
    if report is not None:
        _reports[bpy.context.scene.session_uid] = report


def report_of(scene):
    """The dictionary that the command line writes as JSON, or None."""
    report = _reports.get(scene.session_uid)
    if report and "deformation" in report:
        report["deformation"]["before"]  # which may be measured now: see compare()
    return report


forget = _reports.clear
