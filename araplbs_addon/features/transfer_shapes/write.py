"""Writes shape keys to a mesh, with ranges and drivers, completely or not at all."""

from contextlib import contextmanager

import bpy
import numpy as np

from ...blender.data.mesh_shape import coordinates_of

SLIDER = ("slider_min", "slider_max", "value", "mute")


def write_shapes(ob, names, shapes):
    """Writes shapes (k, n, 3), relative to the rest shape. Returns the key names as ([new],
    [replaced], [kept]). Existing keys with these names receive the new shape and keep their
    sliders. Locked keys and the rest key stay unchanged. A missing rest key is created."""
    new, replaced, kept = [], [], []
    for name, shape in zip(names, shapes, strict=True):
        keys = ob.data.shape_keys
        block = keys.key_blocks.get(name) if keys else None
        if block and (block == keys.reference_key or is_locked(block)):
            kept.append(name)
            continue
        if not keys:
            ob.shape_key_add(name="Basis", from_mix=False)
        if block:
            replaced.append(name)
        else:
            block = ob.shape_key_add(name=name, from_mix=False)
            block.value = 0
            new.append(name)
        block.relative_key = ob.data.shape_keys.reference_key
        block.vertex_group = ""
        _write(block, shape)
    ob.data.update()
    return new, replaced, kept


def is_locked(block):
    return getattr(block, "lock_shape", False)  # not in all data of Blender 4.2


def set_sliders(source, ob, names, follow):
    """Copies the slider ranges of the source to the keys. If `follow` is set, the keys get drivers
    that follow the source's values. Otherwise, values and drivers are copied. Existing drivers of a
    key stay."""
    keys, given = ob.data.shape_keys, source.data.shape_keys
    for name in names:
        block, other = keys.key_blocks[name], given.key_blocks[name]
        _set_slider(block, {each: getattr(other, each) for each in SLIDER})
        if _driver_of(keys, name):
            continue
        driver = _driver_of(given, name)
        if follow:
            _follow(block, given, name)
        elif driver:
            animation = keys.animation_data or keys.animation_data_create()
            animation.drivers.from_existing(src_driver=driver)


def _write(block, shape):
    block.data.foreach_set("co", np.ascontiguousarray(shape, np.float32).ravel())


def _set_slider(block, values):
    """Sets the range before the value, and the outer limits first, so no limit blocks another."""
    block.slider_min = min(block.slider_min, values["slider_min"])
    for name in ("slider_max", "slider_min", "value", "mute"):
        setattr(block, name, values[name])


def _path(name):
    return f'key_blocks["{bpy.utils.escape_identifier(name)}"].value'


def _driver_of(keys, name):
    animation = keys.animation_data
    return animation.drivers.find(_path(name)) if animation else None


def _follow(block, keys, name):
    driver = block.driver_add("value").driver
    driver.type = "AVERAGE"  # of one variable: needs no expression, so it runs in untrusted files
    target = driver.variables.new().targets[0]
    target.id_type = "KEY"
    target.id = keys
    target.data_path = _path(name)


@contextmanager
def all_keys_or_nothing(objects):
    """If an exception leaves the block, restores the earlier shape keys of these meshes."""
    before = [_Keys(ob) for ob in objects]
    try:
        yield
    except BaseException:
        for keys in before:
            keys.put_back()
        raise


class _Keys:
    def __init__(self, ob):
        self.ob, keys = ob, ob.data.shape_keys
        self.active = ob.active_shape_key_index
        self.blocks = {block.name: _of_block(block) for block in keys.key_blocks} if keys else {}
        self.driven = {name for name in self.blocks if _driver_of(keys, name)}
        self.animated = bool(keys and keys.animation_data)

    def put_back(self):
        ob, keys = self.ob, self.ob.data.shape_keys
        if not keys:
            return
        for block in list(keys.key_blocks):
            if block.name not in self.driven:
                block.driver_remove("value")
            if block.name not in self.blocks and self.blocks:
                ob.shape_key_remove(block)
        if not self.blocks:
            ob.shape_key_clear()
            return
        if not self.animated:
            keys.animation_data_clear()
        for name, (shape, relative, group, values) in self.blocks.items():
            block = keys.key_blocks[name]
            block.relative_key = keys.key_blocks[relative]
            block.vertex_group = group
            _write(block, shape)
            _set_slider(block, values)
        ob.active_shape_key_index = self.active
        ob.data.update()


def _of_block(block):
    values = {each: getattr(block, each) for each in SLIDER}
    return coordinates_of(block), block.relative_key.name, block.vertex_group, values
