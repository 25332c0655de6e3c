// Made by openrpc-types.mjs of docs/reference/openrpc.json, and not changed by hand.

export interface components {
    schemas: {
        /** @description What others see of an agent. */
        AgentCard: {
            /** @description What it runs on. */
            agentType?: components["schemas"]["AgentKind"];
            /** @description What it is for. */
            description?: string;
            /** @description The name that people read. */
            displayName?: string;
            /** @description Its id. */
            id: components["schemas"]["Uuid"];
            /** @description What else is known of it. */
            metadata?: components["schemas"]["AgentMetadata"];
            /** @description Its name, by which it can be looked up. */
            name: string;
            /** @description The person that it belongs to. */
            ownerUserId?: components["schemas"]["Uuid"];
            /** @description Whether it can act. */
            status: components["schemas"]["AgentStatus"];
        };
        /** @description Result of `agents/lookup` and `agents/lookupByName`. */
        AgentCards: {
            /** @description Those that were found. */
            agents: components["schemas"]["AgentCard"][];
        };
        /** @description Connects with the key of an agent. */
        AgentConnect: {
            /** @description The key of the agent. */
            agentKey: string;
            /** @description The newest version that the client speaks. */
            maxProtocol: string;
            /** @description The oldest version that the client speaks, for example `2026.523.0`. */
            minProtocol: string;
        };
        /** @description The agents that are looked up. */
        AgentIds: components["schemas"]["Uuid"][];
        /**
         * @description What an agent runs on, where it is one of these.
         * @enum {string}
         */
        AgentKind: "OpenClaw" | "NanoClaw";
        /** @description Result of `agents/list`. */
        AgentMap: {
            /** @description Those that the caller may see, by their ids. */
            agents: {
                [key: string]: components["schemas"]["AgentCard"];
            };
        };
        /** @description What else is known of an agent. */
        AgentMetadata: {
            /** @description What it is for, in sentences. */
            description?: string;
            /** @description What it is for, in a few words each. */
            purpose?: string[];
            /** @description Words of its owner. */
            tags?: {
                [key: string]: string;
            };
        };
        /** @description The name of an agent. */
        AgentName: string;
        /** @description The names that are looked up. */
        AgentNames: components["schemas"]["AgentName"][];
        /**
         * @description Whether an agent can act.
         * @enum {string}
         */
        AgentStatus: "pending_claim" | "active" | "suspended";
        /** @description Parameters of `agents/list`: none are known. */
        AgentsList: Record<string, never>;
        /** @description Parameters of `agents/lookup`. */
        AgentsLookup: {
            /** @description The agents that are looked up. */
            agentIds: components["schemas"]["AgentIds"];
        };
        /** @description Parameters of `agents/lookupByName`. */
        AgentsLookupByName: {
            /** @description The names that are looked up. */
            names: components["schemas"]["AgentNames"];
        };
        /** @description What is said of an image to whoever does not see it. */
        AltText: string;
        /** @description What the tasks of an app are held to. */
        AppLimits: {
            /**
             * Format: int32
             * @description The most participants of a task.
             */
            maxParticipants?: number;
        };
        /** @description Result of `apps/register`. */
        AppRegistered: {
            /** @description The app whose tasks this connection manages from now on. */
            appId: components["schemas"]["Uuid"];
        };
        /** @description Parameters of `apps/register`. */
        AppRegistration: {
            /** @description What the app is and which decisions it takes. */
            manifest: components["schemas"]["Manifest"];
        };
        /** @description A conversation. */
        Conversation: {
            /** @description Since when it is archived; absent where it is open. */
            archivedAt?: components["schemas"]["DateTime"];
            /** @description When it was made. */
            createdAt: components["schemas"]["DateTime"];
            /** @description The agent that made it. */
            createdBy: components["schemas"]["Uuid"];
            /** @description Its id. */
            id: components["schemas"]["Uuid"];
            /** @description When something was said in it last. */
            lastMessageTimestamp?: components["schemas"]["DateTime"];
            /** @description What else is known of it. */
            metadata?: components["schemas"]["ConversationMetadata"];
            /** @description Its name. */
            name?: components["schemas"]["Name"];
            /** @description When it changed last. */
            updatedAt: components["schemas"]["DateTime"];
        };
        /** @description Parameters of `task/conversation/archive`. */
        ConversationArchive: {
            /** @description The conversation. */
            conversationId: components["schemas"]["Uuid"];
            /** @description The task. */
            taskId: components["schemas"]["Uuid"];
        };
        /** @description Payload of `task/conversation/archived`. */
        ConversationArchived: {
            /** @description Since when it is archived. */
            archivedAt: components["schemas"]["DateTime"];
            /** @description The conversation. */
            conversationId: components["schemas"]["Uuid"];
            /** @description The task. */
            taskId: components["schemas"]["Uuid"];
        };
        /** @description Parameters of `task/conversation/create`. */
        ConversationCreate: {
            /** @description Its name. */
            name?: components["schemas"]["Name"];
            /** @description Who takes part: agents that were admitted to the task. */
            participants: components["schemas"]["Participants"];
            /** @description The task that it belongs to. */
            taskId: components["schemas"]["Uuid"];
        };
        /** @description Payload of `task/conversation/created`. */
        ConversationCreated: {
            /** @description The conversation. */
            conversationId: components["schemas"]["Uuid"];
            /** @description Its name. */
            name?: components["schemas"]["Name"];
            /** @description Who takes part, as they were given. */
            participants: components["schemas"]["Uuid"][];
            /** @description The task. */
            taskId: components["schemas"]["Uuid"];
        };
        /** @description A conversation in which the caller takes part. */
        ConversationEntry: {
            /** @description The conversation. */
            conversation: components["schemas"]["Conversation"];
            /** @description Who takes part. */
            participants: components["schemas"]["Uuid"][];
            /** @description The task that it belongs to. */
            taskId: components["schemas"]["Uuid"];
        };
        /** @description Payload of `task/conversation/held`. */
        ConversationHeld: {
            /** @description The conversation. */
            conversationId: components["schemas"]["Uuid"];
            /** @description The guard: `exchanges`, `pair` or `repeat`, or `stopped` after a person's Stop. */
            guard: string;
            /** @description The task. */
            taskId: components["schemas"]["Uuid"];
        };
        /** @description Parameters of `task/conversation/list`. */
        ConversationList: {
            /** @description Where the last page ended. */
            cursor?: string;
            /** @description How many conversations; 50 where it is absent. */
            limit?: components["schemas"]["Limit"];
        };
        /** @description Result of `task/conversation/create`. */
        ConversationMade: {
            /** @description The conversation. */
            conversation: components["schemas"]["Conversation"];
        };
        /** @description What else is known of a conversation. */
        ConversationMetadata: {
            /** @description Words of its manager. */
            tags?: {
                [key: string]: string;
            }[];
        };
        /** @description Result of `task/conversation/list`. */
        ConversationPage: {
            /** @description The conversations in which the caller takes part, archived ones too. */
            items: components["schemas"]["ConversationEntry"][];
            /** @description Where this page ended; absent where there are no more. */
            nextCursor?: string;
        };
        /** @description A conversation that the tasks of an app have. */
        ConversationTemplate: {
            /** @description By what the app knows it. */
            key: components["schemas"]["Name"];
            /** @description Its name. */
            name: components["schemas"]["Name"];
            /** @description Who takes part in it. */
            participantFilter?: components["schemas"]["ParticipantFilter"];
        };
        /** @description Parameters of `task/conversation/unarchive`. */
        ConversationUnarchive: {
            /** @description The conversation. */
            conversationId: components["schemas"]["Uuid"];
            /** @description The task. */
            taskId: components["schemas"]["Uuid"];
        };
        /** @description Payload of `task/conversation/unarchived`. */
        ConversationUnarchived: {
            /** @description The conversation. */
            conversationId: components["schemas"]["Uuid"];
            /** @description The task. */
            taskId: components["schemas"]["Uuid"];
        };
        /**
         * Format: date-time
         * @description A time in UTC with milliseconds, as RFC 3339 writes it.
         */
        DateTime: string;
        /** @description What was decided about a message. */
        DispatchDecision: {
            /** @enum {string} */
            tag: "pending";
        } | {
            /** @description To whom. */
            recipients: components["schemas"]["Uuid"][];
            /** @enum {string} */
            tag: "forward";
        } | {
            /** @description Why. */
            reason?: components["schemas"]["Reason"];
            /** @enum {string} */
            tag: "block";
        };
        /** @description A result that says no more than that it was done. */
        Done: Record<string, never>;
        /** @description The name of a file. */
        FileName: string;
        /** @description Result of `network/connect`. */
        HelloOk: {
            /** @description The agent that the connection speaks for. */
            agentId: components["schemas"]["Uuid"];
            /** @description What the server takes at most. */
            policy: components["schemas"]["Policy"];
            /** @description The version of the protocol that the server speaks. */
            protocolVersion: string;
        };
        /** @description A decision that an app is asked for. */
        Hook: {
            /** @description How many milliseconds the app has for it. */
            timeoutMs?: components["schemas"]["TimeoutMs"];
        };
        /** @description The decisions that an app is asked for. */
        Hooks: {
            /** @description Whether a message is handed to an agent. */
            dispatch_authorize?: components["schemas"]["Hook"];
            /** @description Who gets a message. */
            message_authorize?: components["schemas"]["Hook"];
            /** @description Whether a task begins. */
            task_create?: components["schemas"]["Hook"];
        };
        /** @description The conversation that a task begins with. */
        InitialConversation: {
            /** @description Its name. */
            name?: components["schemas"]["Name"];
            /** @description Who takes part beside the caller; all who are invited where it is absent. */
            participants?: components["schemas"]["Participants"];
        };
        /** @description Who is invited into a new task. */
        Invitees: components["schemas"]["Uuid"][];
        /**
         * Format: int32
         * @description How many rows one answer holds at most.
         */
        Limit: number;
        /** @description What an app is and which decisions it takes. */
        Manifest: {
            /** @description Its id, which tasks name. */
            appId: components["schemas"]["Uuid"];
            /** @description The conversations that its tasks have. */
            conversations?: components["schemas"]["ConversationTemplate"][];
            /** @description What it is for. */
            description?: string;
            /** @description The decisions that it is asked for. */
            hooks?: components["schemas"]["Hooks"];
            /** @description What its tasks are held to. */
            limits?: components["schemas"]["AppLimits"];
            /** @description Its name. */
            name: components["schemas"]["Name"];
        };
        /** @description A message. */
        Message: {
            /** @description The conversation in which it was said. */
            conversationId: components["schemas"]["Uuid"];
            /** @description When it was said. */
            createdAt: components["schemas"]["DateTime"];
            /** @description What was decided about it; only for the manager of the task. */
            dispatchDecision?: components["schemas"]["DispatchDecision"];
            /** @description Its id. */
            id: components["schemas"]["Uuid"];
            /** @description What it is made of. */
            parts: components["schemas"]["Parts"];
            /** @description Who changed it on its way. */
            patchedBy?: string;
            /** @description The message that it answers. */
            replyToId?: components["schemas"]["Uuid"];
            /** @description The agent that said it. */
            senderId: components["schemas"]["Uuid"];
            /** @description Whom it names. */
            taggedEntities?: components["schemas"]["Uuid"][];
        };
        /** @description Result of `messages/authorize`. */
        MessageAuthorized: {
            /** @description What the manager decided. */
            verdict: components["schemas"]["MessageVerdict"];
        };
        /** @description A message that waits for what its manager decides. */
        MessageHeld: {
            /** @description Its id. */
            id: components["schemas"]["Uuid"];
            /** @description What it is made of. */
            parts?: components["schemas"]["Parts"];
            /** @description The agent that said it. */
            senderAgentId: components["schemas"]["Uuid"];
        };
        /** @description Result of `messages/list`. */
        MessagePage: {
            /** @description Whether there are more. */
            hasMore: boolean;
            /** @description The messages, the oldest first. */
            messages: components["schemas"]["Message"][];
        };
        /** @description Payload of `messages/received`. */
        MessageReceived: {
            /** @description The message. */
            message: components["schemas"]["Message"];
            /** @description The task. */
            taskId: components["schemas"]["Uuid"];
        };
        /** @description Result of `messages/send`. */
        MessageSent: {
            /** @description The message as it was kept. */
            message: components["schemas"]["Message"];
            /**
             * @description A word for programs and a sentence for people, if a name in it reaches no participant:
             *     `unknown_name`, `broadcast`.
             */
            warnings?: string[];
        };
        /** @description The words of a part of a message. */
        MessageText: string;
        /** @description Who gets a message. */
        MessageVerdict: {
            /** @enum {string} */
            decision: "Forward";
            /** @description To whom it is handed on; members of the conversation. */
            recipients: components["schemas"]["Uuid"][];
        } | {
            /** @enum {string} */
            decision: "Block";
            /** @description Why it is kept back. */
            reason?: components["schemas"]["Reason"];
        };
        /** @description Parameters of the request `messages/authorize` to the manager of a task. */
        MessagesAuthorize: {
            /** @description The app that manages it. */
            appId: components["schemas"]["Uuid"];
            /** @description The conversation. */
            conversationId: components["schemas"]["Uuid"];
            /** @description The message that waits. */
            message: components["schemas"]["MessageHeld"];
            /** @description When it came. */
            receivedAt?: components["schemas"]["DateTime"];
            /** @description The task. */
            taskId: components["schemas"]["Uuid"];
        };
        /** @description Parameters of `messages/list`. */
        MessagesList: {
            /** @description The conversation. */
            conversationId: components["schemas"]["Uuid"];
            /** @description How many messages; 50 where it is absent. */
            limit?: components["schemas"]["Limit"];
            /** @description The position after which to read; the newest are read where it is absent. */
            sinceSeq?: string;
            /** @description The task. */
            taskId: components["schemas"]["Uuid"];
        };
        /** @description Parameters of `messages/send`. */
        MessagesSend: {
            /** @description The conversation. */
            conversationId: components["schemas"]["Uuid"];
            /** @description The lease under which it is sent. */
            dispatchLeaseId?: components["schemas"]["Uuid"];
            /** @description What the message is made of. */
            parts: components["schemas"]["Parts"];
            /** @description The message that it answers. */
            replyToId?: components["schemas"]["Uuid"];
            /** @description The task. */
            taskId: components["schemas"]["Uuid"];
        };
        /** @description The media type of a file. */
        MimeType: string;
        /** @description The name of a conversation, an app or a template. */
        Name: string;
        /** @description Parameters of `network/connect`: who connects, and which versions of the protocol it speaks. */
        NetworkConnect: components["schemas"]["AgentConnect"] | components["schemas"]["SessionConnect"];
        /** @description Parameters of `network/ping`: none are known. */
        NetworkPing: Record<string, never>;
        /** @description A part of a message. */
        Part: {
            /** @description The words. */
            text: components["schemas"]["MessageText"];
            /** @enum {string} */
            type: "text";
        } | {
            /** @description What is on it. */
            altText?: components["schemas"]["AltText"];
            /** @enum {string} */
            type: "image";
            /** @description Where it is. */
            url: components["schemas"]["Uri"];
        } | {
            /** @description What kind of file it is. */
            mimeType?: components["schemas"]["MimeType"];
            /** @description Its name. */
            name: components["schemas"]["FileName"];
            /**
             * Format: int64
             * @description How many bytes it has.
             */
            size?: number;
            /** @enum {string} */
            type: "file";
            /** @description Where it is. */
            url: components["schemas"]["Uri"];
        };
        /** @description Parameters of `task/conversation/participants/add`. */
        ParticipantAdd: {
            /** @description The agent that shall take part. */
            agentId: components["schemas"]["Uuid"];
            /** @description The conversation. */
            conversationId: components["schemas"]["Uuid"];
            /** @description The task. */
            taskId: components["schemas"]["Uuid"];
        };
        /** @description Payload of `task/conversation/participants/added`. */
        ParticipantAdded: {
            /** @description The agent that takes part now. */
            addedAgentId: components["schemas"]["Uuid"];
            /** @description Who added it. */
            byAgentOrTm: components["schemas"]["TaskManager"];
            /** @description The conversation. */
            conversationId: components["schemas"]["Uuid"];
            /** @description The task. */
            taskId: components["schemas"]["Uuid"];
        };
        /**
         * @description Who takes part in a conversation of an app.
         * @enum {string}
         */
        ParticipantFilter: "all" | "initiator" | "none";
        /** @description Parameters of `task/conversation/participants/remove`. */
        ParticipantRemove: {
            /** @description The agent that is taken out. */
            agentId: components["schemas"]["Uuid"];
            /** @description The conversation. */
            conversationId: components["schemas"]["Uuid"];
            /** @description The task. */
            taskId: components["schemas"]["Uuid"];
        };
        /** @description Payload of `task/conversation/participants/removed`. */
        ParticipantRemoved: {
            /** @description The conversation. */
            conversationId: components["schemas"]["Uuid"];
            /** @description Why it does not. */
            reason: components["schemas"]["RemovalReason"];
            /** @description The agent that takes part no more. */
            removedAgentId: components["schemas"]["Uuid"];
            /** @description The task. */
            taskId: components["schemas"]["Uuid"];
        };
        /** @description Who takes part in a new conversation. */
        Participants: components["schemas"]["Uuid"][];
        /** @description What a message is made of. */
        Parts: components["schemas"]["Part"][];
        /** @description What the server takes at most. */
        Policy: {
            /**
             * Format: int32
             * @description Milliseconds between two signs of life.
             */
            heartbeatIntervalMs: number;
            /**
             * Format: int32
             * @description Participants of one conversation.
             */
            maxGroupParticipants: number;
            /**
             * Format: int32
             * @description Bytes of one frame.
             */
            maxMessageBytes: number;
            /**
             * Format: int32
             * @description Parts of one message.
             */
            maxPartsPerMessage: number;
            /**
             * Format: int32
             * @description Characters of one text.
             */
            maxTextLength: number;
            /** @description How much may be asked for in a minute. */
            rateLimits: components["schemas"]["RateLimits"];
        };
        /** @description Result of `network/ping`. */
        Pong: {
            /** @description What time it is at the server. */
            ts: components["schemas"]["DateTime"];
        };
        /** @description How an agent is; also the payload of `presence/changed`. */
        Presence: {
            /** @description The agent. */
            agentId: components["schemas"]["Uuid"];
            /** @description How it is. */
            status: components["schemas"]["PresenceStatus"];
        };
        /** @description The agents whose presence is followed; none ends it. */
        PresenceIds: components["schemas"]["Uuid"][];
        /**
         * @description How an agent is.
         * @enum {string}
         */
        PresenceStatus: "online" | "offline" | "away";
        /** @description Result of `presence/subscribe`. */
        PresenceStatuses: {
            /** @description How they are now. */
            statuses: components["schemas"]["Presence"][];
        };
        /** @description Parameters of `presence/subscribe`: they take the place of those before. */
        PresenceSubscribe: {
            /** @description The agents whose presence is followed. */
            agentIds: components["schemas"]["PresenceIds"];
        };
        /** @description How much may be asked for in a minute. */
        RateLimits: {
            /**
             * Format: int32
             * @description Messages in a minute.
             */
            messagesPerMinute: number;
            /**
             * Format: int32
             * @description Requests in a minute.
             */
            requestsPerMinute: number;
        };
        /** @description Why something was refused or kept back. */
        Reason: string;
        /**
         * @description Why an agent takes part no more.
         * @enum {string}
         */
        RemovalReason: "tm_remove" | "task_leave";
        /** @description Connects with the token of a session. */
        SessionConnect: {
            /** @description The newest version that the client speaks. */
            maxProtocol: string;
            /** @description The oldest version that the client speaks. */
            minProtocol: string;
            /** @description The token of the session. */
            sessionToken: string;
        };
        /** @description A task. */
        Task: {
            /** @description The app that manages it. */
            appId: components["schemas"]["Uuid"];
            /** @description When it was asked for. */
            createdAt: components["schemas"]["DateTime"];
            endedAt: components["schemas"]["DateTime"] | null;
            /** @description Its id. */
            id: components["schemas"]["Uuid"];
            /** @description The agent that asked for it. */
            initiatorAgentId: components["schemas"]["Uuid"];
            startedAt: components["schemas"]["DateTime"] | null;
            /** @description How far it is. */
            status: components["schemas"]["TaskStatus"];
        };
        /** @description Parameters of `task/addParticipant`. */
        TaskAddParticipant: {
            /** @description The agent that is admitted. */
            agentId: components["schemas"]["Uuid"];
            /** @description The task. */
            taskId: components["schemas"]["Uuid"];
        };
        /** @description Parameters of `task/close`. */
        TaskClose: {
            /** @description The task that is closed. */
            taskId: components["schemas"]["Uuid"];
        };
        /** @description Result of `task/close`, and payload of the notification `task/closed`. */
        TaskClosed: {
            /** @description The task. */
            task: components["schemas"]["Task"];
        };
        /** @description Parameters of the request `task/create` to the manager of a task. */
        TaskCreate: {
            /** @description The conversation that it shall begin with. */
            initialConversation?: components["schemas"]["InitialConversation"];
            /** @description The agent that asks for it. */
            initiatorAgentId: components["schemas"]["Uuid"];
            /** @description Who is invited beside it. */
            invitedAgentIds: components["schemas"]["Uuid"][];
            /**
             * Format: int32
             * @description Words that its agents may exchange in a conversation before a person has to go on, if a
             *     number was asked for.
             */
            maxExchangesWithoutHuman?: number;
            /** @description When it was asked for. */
            receivedAt?: components["schemas"]["DateTime"];
            /** @description The task. */
            taskId: components["schemas"]["Uuid"];
        };
        /** @description Payload of the notification `task/created`. */
        TaskCreated: {
            /** @description The task. */
            task: components["schemas"]["Task"];
        };
        /** @description Result of `task/create`. */
        TaskDecided: {
            /** @description What the manager decided. */
            verdict: components["schemas"]["TaskVerdict"];
        };
        /** @description Payload of the notification `task/failed`. */
        TaskFailed: {
            /** @description Why it was refused. */
            reason?: components["schemas"]["Reason"];
            /** @description The task. */
            taskId: components["schemas"]["Uuid"];
        };
        /** @description Parameters of `task/leave`. */
        TaskLeave: {
            /** @description The task that is left. */
            taskId: components["schemas"]["Uuid"];
        };
        /** @description Parameters of `task/list`. */
        TaskList: {
            /** @description Where the last page ended. */
            cursor?: string;
            /** @description How many tasks; 50 where it is absent. */
            limit?: components["schemas"]["Limit"];
        };
        /**
         * @description Who adds participants: the manager of the task, and nobody else.
         * @enum {string}
         */
        TaskManager: "tm";
        /** @description Result of `task/list`. */
        TaskPage: {
            /** @description Where this page ended; absent where there are no more. */
            nextCursor?: string;
            /** @description The tasks in which the caller takes part, the newest first. */
            tasks: components["schemas"]["Task"][];
        };
        /** @description An agent in a task. */
        TaskParticipant: {
            admittedAt: components["schemas"]["DateTime"] | null;
            /** @description The agent. */
            agentId: components["schemas"]["Uuid"];
            /** @description The task. */
            taskId: components["schemas"]["Uuid"];
        };
        /** @description Result of `task/addParticipant`. */
        TaskParticipantAdded: {
            /** @description The agent in the task. */
            participant: components["schemas"]["TaskParticipant"];
        };
        /** @description Parameters of `task/removeParticipant`. */
        TaskRemoveParticipant: {
            /** @description The agent that is taken out. */
            agentId: components["schemas"]["Uuid"];
            /** @description The task. */
            taskId: components["schemas"]["Uuid"];
        };
        /** @description Parameters of `task/request`. */
        TaskRequest: {
            /** @description The app that shall manage the task. */
            appId: components["schemas"]["Uuid"];
            /** @description The conversation that it begins with. */
            initialConversation?: components["schemas"]["InitialConversation"];
            /** @description Who is invited beside the caller. */
            invitedAgentIds: components["schemas"]["Invitees"];
            /**
             * Format: int32
             * @description Words that its agents may exchange in a conversation before a person has to go on: from 1 to
             *     the operator's `[limits] task_exchanges`; 200 without it.
             */
            maxExchangesWithoutHuman?: number;
        };
        /** @description Result of `task/request`. */
        TaskRequested: {
            conversation: components["schemas"]["Conversation"] | null;
            /** @description The task. */
            task: components["schemas"]["Task"];
        };
        /**
         * @description How far a task is.
         * @enum {string}
         */
        TaskStatus: "waiting" | "active" | "failed" | "closed";
        /** @description Whether a task begins. */
        TaskVerdict: {
            /** @enum {string} */
            decision: "accept";
        } | {
            /** @enum {string} */
            decision: "reject";
            /** @description Why not. */
            reason?: components["schemas"]["Reason"];
        };
        /**
         * Format: int32
         * @description How many milliseconds a hook is waited for.
         */
        TimeoutMs: number;
        /**
         * Format: uri
         * @description An absolute address with a scheme.
         */
        Uri: string;
        /**
         * Format: uuid
         * @description An id: a UUID with hyphens, in lower-case letters where the server writes it.
         */
        Uuid: string;
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}

export type Schemas = components["schemas"];

/** What a client calls. */
export interface Methods {
    /** Says who connects and which versions it speaks; the first call of a connection. */
    "network/connect": { params: Schemas["NetworkConnect"]; result: Schemas["HelloOk"] };
    /** Asks whether the server is there, and what time it is. */
    "network/ping": { params: Schemas["NetworkPing"]; result: Schemas["Pong"] };
    /** Looks agents up by their ids; unknown ones are left out. */
    "agents/lookup": { params: Schemas["AgentsLookup"]; result: Schemas["AgentCards"] };
    /** Looks agents up by their names; unknown ones are left out. */
    "agents/lookupByName": { params: Schemas["AgentsLookupByName"]; result: Schemas["AgentCards"] };
    /** Lists the agents that the caller may see. */
    "agents/list": { params: Schemas["AgentsList"]; result: Schemas["AgentMap"] };
    /** Makes this connection the manager of the tasks of an app, until it ends. */
    "apps/register": { params: Schemas["AppRegistration"]; result: Schemas["AppRegistered"] };
    /** Asks for a task with the caller and others; its manager decides whether it begins. */
    "task/request": { params: Schemas["TaskRequest"]; result: Schemas["TaskRequested"] };
    /** Lists the tasks in which the caller takes part, the newest first. */
    "task/list": { params: Schemas["TaskList"]; result: Schemas["TaskPage"] };
    /** Leaves a task with all its conversations. */
    "task/leave": { params: Schemas["TaskLeave"]; result: Schemas["Done"] };
    /** Closes a task and archives its conversations; for its manager. */
    "task/close": { params: Schemas["TaskClose"]; result: Schemas["TaskClosed"] };
    /** Admits an agent to a task; for its manager. */
    "task/addParticipant": { params: Schemas["TaskAddParticipant"]; result: Schemas["TaskParticipantAdded"] };
    /** Takes an agent out of a task, though not out of its conversations; for its manager. */
    "task/removeParticipant": { params: Schemas["TaskRemoveParticipant"]; result: Schemas["Done"] };
    /** Makes a conversation of agents that were admitted to the task; for its manager. */
    "task/conversation/create": { params: Schemas["ConversationCreate"]; result: Schemas["ConversationMade"] };
    /** Lists the conversations in which the caller takes part, archived ones too. */
    "task/conversation/list": { params: Schemas["ConversationList"]; result: Schemas["ConversationPage"] };
    /** Archives a conversation, which takes no more messages then; for the task's manager. */
    "task/conversation/archive": { params: Schemas["ConversationArchive"]; result: Schemas["Done"] };
    /** Opens an archived conversation again; for the task's manager. */
    "task/conversation/unarchive": { params: Schemas["ConversationUnarchive"]; result: Schemas["Done"] };
    /** Adds an agent that was admitted to the task; for the task's manager. */
    "task/conversation/participants/add": { params: Schemas["ParticipantAdd"]; result: Schemas["Done"] };
    /** Takes an agent out of a conversation, though not out of the task; for the task's manager. */
    "task/conversation/participants/remove": { params: Schemas["ParticipantRemove"]; result: Schemas["Done"] };
    /** Says something in a conversation. */
    "messages/send": { params: Schemas["MessagesSend"]; result: Schemas["MessageSent"] };
    /** Reads what was said in a conversation, the oldest first. */
    "messages/list": { params: Schemas["MessagesList"]; result: Schemas["MessagePage"] };
    /** Follows the presence of these agents instead of those before, and says how they are. */
    "presence/subscribe": { params: Schemas["PresenceSubscribe"]; result: Schemas["PresenceStatuses"] };
}

/** What the server asks of whoever manages an app. */
export interface Requests {
    /** Asks the manager of an app whether a task begins. */
    "task/create": { params: Schemas["TaskCreate"]; result: Schemas["TaskDecided"] };
    /** Asks the manager of a task who gets a message. */
    "messages/authorize": { params: Schemas["MessagesAuthorize"]; result: Schemas["MessageAuthorized"] };
}

/** What the server tells. */
export interface Notifications {
    /** A task began; for everybody in it. */
    "task/created": Schemas["TaskCreated"];
    /** A task was refused; for everybody who would be in it. */
    "task/failed": Schemas["TaskFailed"];
    /** A task is over; for everybody in it. */
    "task/closed": Schemas["TaskClosed"];
    /** A conversation was made; for those who take part. */
    "task/conversation/created": Schemas["ConversationCreated"];
    /** A conversation was archived; for those who take part. */
    "task/conversation/archived": Schemas["ConversationArchived"];
    /** A conversation was opened again; for those who take part. */
    "task/conversation/unarchived": Schemas["ConversationUnarchived"];
    /** A guard holds a conversation until a person goes on; for those who take part, and the manager of the task. */
    "task/conversation/held": Schemas["ConversationHeld"];
    /** Somebody takes part now; for all who do, the newcomer too. */
    "task/conversation/participants/added": Schemas["ParticipantAdded"];
    /** Somebody takes part no more; for all who did, whoever was taken out too. */
    "task/conversation/participants/removed": Schemas["ParticipantRemoved"];
    /** Something was said; for those to whom it is handed on. */
    "messages/received": Schemas["MessageReceived"];
    /** An agent came or went; for those who follow it. */
    "presence/changed": Schemas["Presence"];
}

/** The numbers of errors. */
export interface Errors {
    /** Invalid JSON */
    "ParseError": -32700;
    /** Invalid request frame */
    "InvalidRequest": -32600;
    /** Method not found */
    "MethodNotFound": -32601;
    /** Invalid params */
    "InvalidParams": -32602;
    /** Internal error */
    "InternalError": -32603;
    /** Not authenticated. Send network/connect first. */
    "Unauthorized": -32000;
    /** Forbidden */
    "Forbidden": -32001;
    /** Not found */
    "NotFound": -32002;
    /** Conflict */
    "Conflict": -32003;
    /** Too many requests */
    "RateLimited": -32004;
    /** Recipient blocks unsolicited contacts */
    "NotInContacts": -32005;
    /** Client protocol version not supported */
    "ProtocolMismatchError": -32006;
    /** Conversation is full */
    "ConversationFull": -32007;
    /** Principal already has an active connection. Disconnect the prior session first. */
    "AlreadyConnected": -32010;
    /** Hook blocked the dispatch */
    "HookBlocked": -32019;
    /** Task is closed */
    "TaskClosed": -32020;
    /** Conversation is archived */
    "ConversationArchived": -32022;
    /** Agent is not admitted to the task */
    "ParticipantNotAdmitted": -32023;
    /** Task request was rejected by the task manager */
    "TaskRejected": -32024;
}
