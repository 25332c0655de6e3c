from enum import StrEnum


class GatheringStepType9Event(StrEnum):
    PASS_ASKED = "pass_asked"

    def __str__(self) -> str:
        return str(self.value)
