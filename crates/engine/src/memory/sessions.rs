//! Sessions and listeners in memory.

use async_trait::async_trait;
use moothall_kernel::ids::StreamId;

use super::MemoryLog;
use crate::ports::{LogError, Session, SessionBook, SessionId};

#[async_trait]
impl SessionBook for MemoryLog {
    async fn keep(&self, session: &Session) -> Result<(), LogError> {
        self.to_write()?.sessions.insert(session.id.clone(), session.clone());
        Ok(())
    }

    async fn all(&self) -> Result<Vec<Session>, LogError> {
        Ok(self.tables().sessions.values().cloned().collect())
    }

    async fn listen(&self, target: &SessionId, caller: &SessionId) -> Result<(), LogError> {
        self.to_write()?.listeners.insert((target.clone(), caller.clone()));
        Ok(())
    }

    async fn listeners(&self, target: &SessionId) -> Result<Vec<SessionId>, LogError> {
        let tables = self.tables();
        Ok(tables
            .listeners
            .iter()
            .filter(|(listened, _)| listened == target)
            .map(|(_, caller)| caller.clone())
            .collect())
    }

    async fn unlisten(&self, target: &SessionId, caller: &SessionId) -> Result<(), LogError> {
        self.to_write()?.listeners.remove(&(target.clone(), caller.clone()));
        Ok(())
    }

    async fn enter(&self, session: &SessionId, room: &StreamId) -> Result<(), LogError> {
        self.to_write()?.rooms.insert((session.clone(), room.clone()));
        Ok(())
    }

    async fn leave(&self, session: &SessionId, room: &StreamId) -> Result<(), LogError> {
        self.to_write()?.rooms.remove(&(session.clone(), room.clone()));
        Ok(())
    }

    async fn rooms(&self, session: &SessionId) -> Result<Vec<StreamId>, LogError> {
        Ok(self
            .tables()
            .rooms
            .iter()
            .filter(|(of, _)| of == session)
            .map(|(_, room)| room.clone())
            .collect())
    }
}
