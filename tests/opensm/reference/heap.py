"""A heap of four children a node that breaks ties as the one in OpenSM's component library does.

Checked by running that library (`libosmcomp`) beside it on random operations; equal keys come out in an order that depends on
every swap before, so each of the rules below matters.
"""

from __future__ import annotations

CHILDREN = 4


class Heap:
    """Least key first, keys can be lowered.

    A key moves up while it is *strictly* less than its parent's. It moves down, to the place of its least child, while it is
    *strictly* greater; of equal least children the *last* is taken. The root is taken out by putting the last entry in its
    place and moving that down.
    """

    def __init__(self) -> None:
        self._keys: list[int] = []
        self._items: list[int] = []
        self._places: dict[int, int] = {}

    def __len__(self) -> int:
        return len(self._keys)

    def insert(self, key: int, item: int) -> None:
        """Append an entry and move it up."""
        self._keys.append(key)
        self._items.append(item)
        self._places[item] = len(self._keys) - 1
        self._up(len(self._keys) - 1)

    def lower(self, key: int, item: int) -> None:
        """Give an entry a key that is not greater than its old one, and move it up."""
        place = self._places[item]
        self._keys[place] = key
        self._up(place)

    def pop(self) -> tuple[int, int]:
        """Take out the root: its key and item."""
        self._swap(0, len(self._keys) - 1)
        key, item = self._keys.pop(), self._items.pop()
        del self._places[item]
        self._down(0)
        return key, item

    def _up(self, place: int) -> None:
        while place > 0:
            parent = (place - 1) // CHILDREN
            if not self._keys[place] < self._keys[parent]:
                return
            self._swap(place, parent)
            place = parent

    def _down(self, place: int) -> None:
        while True:
            first = CHILDREN * place + 1
            children = range(first, min(first + CHILDREN, len(self._keys)))
            if not children:
                return
            least = min(children, key=lambda child: (self._keys[child], -child))
            if not self._keys[place] > self._keys[least]:
                return
            self._swap(place, least)
            place = least

    def _swap(self, a: int, b: int) -> None:
        self._keys[a], self._keys[b] = self._keys[b], self._keys[a]
        self._items[a], self._items[b] = self._items[b], self._items[a]
        self._places[self._items[a]] = a
        self._places[self._items[b]] = b
