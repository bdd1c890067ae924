"""Auto-weight (ARAP): skinning weights that make the posed mesh as rigid as possible.

Layers, each of which uses only those below it:
  registration              what is registered with Blender
  ui                        panel and menu entries
  operators, cli            two ways to ask for the work (cli by tasks alone)
  live                      sessions: the work a step at a time, shown and steered meanwhile
  languages                 catalogues of translations
  tasks                     the whole work: read, solve, write
  blender                   the only modules that read or write Blender's data
  farm                      many files; knows nothing of Blender
All that knows nothing of Blender, options, problem, solving, report, is in the package araplbs.
"""


def register():
    from . import native_module, notice

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
    from . import native_module, notice

    if notice.unregister():
        return
    from . import registration

    registration.unregister()
    native_module.put_away()
