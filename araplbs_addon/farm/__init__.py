"""Many files: on several processes of one machine, or on a farm. Knows nothing of bpy.

A task is one file and the arguments that weight it (tasks.py). A Blender that serves takes one
after the other over a pipe (process.py); a pool of them is `--jobs` (pool.py), one for each thread
of a Dask worker is a farm (dask_client.py). Every file gets a report with the options that were
used. All reports together make a table (reports.py).
"""
