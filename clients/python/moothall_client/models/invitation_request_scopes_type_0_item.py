from enum import StrEnum


class InvitationRequestScopesType0Item(StrEnum):
    AGENTSRUN = "agents:run"
    PARTICIPANTSINVITE = "participants:invite"
    PERMISSIONSANSWER = "permissions:answer"
    SERVERADMIN = "server:admin"
    SESSIONSDRIVE = "sessions:drive"
    THREADSADMIN = "threads:admin"
    THREADSREAD = "threads:read"
    THREADSWRITE = "threads:write"
    TURNSCONTROL = "turns:control"

    def __str__(self) -> str:
        return str(self.value)
