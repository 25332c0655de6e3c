from enum import StrEnum


class GatheringStepType4Event(StrEnum):
    LAST_WORD_ASKED = "last_word_asked"

    def __str__(self) -> str:
        return str(self.value)
