"""Progress functions that go by what is new: in long work, and on a busy machine in any, the last
report comes again and again, so that Esc is heard."""


class Told:
    """Keeps reports that differ from the one before; asks to stop at one of them, once."""

    def __init__(self, stop_at=-1):
        self.reports, self.stop_at = [], stop_at

    def __call__(self, stage, fraction):
        assert isinstance(stage, str)
        assert 0 <= fraction <= 1
        if self.reports and self.reports[-1] == (stage, fraction):
            return True
        self.reports.append((stage, fraction))
        return len(self.reports) != self.stop_at

    def __len__(self):
        return len(self.reports)
