from enum import StrEnum


class GatheringStepType2Event(StrEnum):
    PIECE_GIVEN = "piece_given"

    def __str__(self) -> str:
        return str(self.value)
