"""Finds the constructs in the extension's Python code that a reviewer of the platform looks for
(`uses`), and lists the intended uses with their reasons (WANTED). The code is only parsed, not
run."""

import ast

NETWORK = {
    *("socket", "ssl", "http", "ftplib", "smtplib", "poplib", "imaplib", "telnetlib", "xmlrpc"),
    *("asyncio", "socketserver", "webbrowser", "requests", "urllib3", "httpx", "aiohttp"),
}
PROCESS = {"subprocess", "multiprocessing", "pty"}
SHUTIL = {"copy", "copy2", "copyfile", "copytree", "move", "rmtree", "make_archive"}
OS_WRITES = {
    *("remove", "unlink", "rename", "replace", "makedirs", "mkdir", "rmdir", "symlink", "link"),
}
PATH_WRITES = {"write_text", "write_bytes", "mkdir", "unlink", "touch", "rmdir", "symlink_to"}

WANTED = {
    "bl_info": {},  # the manifest describes the extension
    "eval": {},
    "own name": {},
    "private": {},  # _bpy: bpy.ops and bpy.types are what is public
    "search path": {
        "farm/__main__.py": "a program of its own, run outside of Blender",
        "native_module.py": "sees that our own package is imported again after an update",
    },
    "network": {
        "araplbs/farm/dask_client.py": "a program of its own: the name of the machine, for its log",
    },
    "process": {
        "araplbs/cli/batch/process.py": "Blender itself, or this program, for --jobs",
        "araplbs/base/child.py": "this Python again: for --jobs without Blender, for an assistant, "
        "and because TetGen cannot be stopped in a process",
    },
    "__file__": {
        "registration.py": "the folder of the presets, for Blender",
        "native_module.py": "reads the version in the manifest",
        "manual_pages.py": "opens the manual that comes with it, in a browser",
        "languages/translate.py": "reads the catalogues of translations",
        "features/edits/tools.py": "the folder of the brushes' icons, for Blender",
        "farm/__main__.py": "a program of its own, run outside of Blender",
    },
    "write": {
        "araplbs/features/compare/files.py": "makes the folder that the user names for pages",
        "araplbs/blender/standard_output.py": "to nothing, for --quiet, and to the standard output",
        "araplbs/cli/main.py": "to nothing, for a pipe that is closed",
        "araplbs/gltf/file/container.py": "glTF files, at places that the user names",
        "araplbs/usd/stage.py": "USD files, at places that the user names",
        "araplbs/arrays.py": "reads a member of an archive, writes nothing",
        "araplbs/replay.py": "a program of its own, and the files of Report a Problem",
        "araplbs/disk/files.py": "outputs of the command line, at places that the user names",
        "araplbs/disk/frame_file.py": "frames in the system's temporary folder, deleted after use",
        "araplbs/disk/outputs.py": "reports and pages, at places that the user names",
        "araplbs/solvers/tet_mesh.py": "in the system's temporary folder, deleted after use",
        "features/auto_weight/presets.py": "a preset of the user, in Blender's folder for presets",
    },
}


def uses(text):
    """Return {kind: [line, ...]} of the uses in a file."""
    try:
        tree = ast.parse(text)
    except SyntaxError as error:
        return {"syntax": [error.lineno]}
    found = {}
    for node in ast.walk(tree):
        for kind in _kinds(node):
            found.setdefault(kind, []).append(getattr(node, "lineno", 0))
    return found


def _dotted(node):
    """Return 'sys.path' for the expression sys.path, and '' for expressions of other kinds."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        above = _dotted(node.value)
        return f"{above}.{node.attr}" if above else ""
    return ""


def _modules(node):
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom) and not node.level:
        return [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
    return []


def _kinds(node):
    for name in _modules(node):
        top = name.split(".")[0]
        if top in NETWORK or name.startswith("urllib.request"):
            yield "network"
        if top in PROCESS:
            yield "process"
        if top == "_bpy":
            yield "private"
        if top in {"araplbs_addon", "bl_ext"}:
            yield "own name"
    if isinstance(node, ast.Name) and node.id == "__file__":
        yield "__file__"
    if isinstance(node, (ast.Assign, ast.AugAssign, ast.Delete)):
        targets = node.targets if not isinstance(node, ast.AugAssign) else [node.target]
        for target in targets:
            if _dotted(target) == "bl_info":
                yield "bl_info"
            place = target.value if isinstance(target, ast.Subscript) else target
            if _dotted(place) in {"sys.path", "sys.modules", "sys.meta_path", "sys.path_hooks"}:
                yield "search path"
    if isinstance(node, ast.Call):
        yield from _kinds_of_call(node)


def _kinds_of_call(node):
    name = _dotted(node.func)
    last = node.func.attr if isinstance(node.func, ast.Attribute) else name
    if name in {"eval", "exec", "compile", "__import__"}:
        yield "eval"
    if name.startswith(("sys.path.", "sys.meta_path.", "sys.path_hooks.", "site.addsitedir")):
        yield "search path"
    if name in {"sys.modules.update", "sys.modules.pop", "sys.modules.setdefault"}:
        yield "search path"
    if name in {"os.system", "os.popen"} or name.startswith(("os.exec", "os.spawn", "pip.")):
        yield "process"
    module, _, function = name.rpartition(".")
    writes = {"shutil": SHUTIL, "os": OS_WRITES}.get(module, PATH_WRITES)
    opens = last == "open" and _writes(node, name)
    if opens or function in writes or last in PATH_WRITES or module == "tempfile":
        yield "write"


def _writes(node, name):
    """Return whether this call of open(), os.open() or Path.open() opens a file for writing."""
    if name == "os.open":
        return any("O_WRONLY" in ast.dump(a) or "O_RDWR" in ast.dump(a) for a in node.args)
    at = 0 if isinstance(node.func, ast.Attribute) and name not in {"io.open", "gzip.open"} else 1
    modes = [node.args[at]] if len(node.args) > at else []
    modes += [k.value for k in node.keywords if k.arg == "mode"]
    return any(not isinstance(m, ast.Constant) or set(str(m.value)) & set("wax+") for m in modes)
