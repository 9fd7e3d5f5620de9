"""Test cases whose name, in a run, is the law they hold: the first line of the test's documentation."""

import unittest


class LawCase(unittest.TestCase):
    about = ""  # what a parametrised class is parametrised by

    def __str__(self):
        law = super().shortDescription() or super().__str__()
        return f"{law} [{self.about}]" if self.about else law

    def shortDescription(self):
        return None  # __str__ says it already
