"""Auto-weight (ARAP) computes skinning weights that make the posed mesh as rigid as possible.

Each layer uses only the layers below it:
  registration              everything that is registered with Blender
  script                    bind() for scripts, and the command line for Python without Blender
  panels, cli               the tab, menus and overlay of all features; their command line
  features                  a folder for each: task, operator, live session, panel
  operators                 shared code: operator bases, settings, sessions, views
  languages                 catalogs of translations
  task                      the base class of tasks: read, solve, apply
  blender                   reads and writes Blender's data
Code that does not use Blender (options, problem, solving, reports) is in the package araplbs.
"""


def register():
    from . import missing_module as notice
    from . import native_module

    if notice.register(native_module.problem()):
        return
    native_module.bring_back()
    try:
        from . import registration
    except ImportError as error:
        if notice.register(native_module.mismatch(error)):
            return
        raise
    registration.register()


def unregister():
    from . import missing_module as notice
    from . import native_module

    if notice.unregister():
        return
    from . import registration

    registration.unregister()
    native_module.put_away()
