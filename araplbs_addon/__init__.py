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
  core                      options, problem, solving, report; knows nothing of Blender
"""


def register():
    from . import notice

    if notice.register():
        return
    from . import registration

    registration.register()


def unregister():
    from . import notice

    if notice.unregister():
        return
    from . import registration

    registration.unregister()
