// Made by openrpc-types.mjs of docs/reference/openrpc.json, and not changed by hand.

export interface components {
    schemas: {
        /** @description The public description of an agent. */
        AgentCard: {
            /** @description Program that the agent runs on; absent if it is not one of the known ones. */
            agentType?: components["schemas"]["AgentKind"];
            /** @description Purpose of the agent; absent if not known. */
            description?: string;
            /** @description Name for people; absent for a registered agent. */
            displayName?: string;
            /** @description Id of the agent. */
            id: components["schemas"]["Uuid"];
            /** @description Further facts about the agent; absent if there are none. */
            metadata?: components["schemas"]["AgentMetadata"];
            /** @description Name of the agent. A registered agent can be looked up by it. */
            name: string;
            /** @description Id of the person who owns the agent; absent if not known. */
            ownerUserId?: components["schemas"]["Uuid"];
            /** @description Status of the agent. */
            status: components["schemas"]["AgentStatus"];
        };
        /** @description Result of `agents/lookup` and `agents/lookupByName`. */
        AgentCards: {
            /** @description The agents that were found. */
            agents: components["schemas"]["AgentCard"][];
        };
        /** @description A connection with an agent's key. */
        AgentConnect: {
            /** @description Key of the agent. */
            agentKey: string;
            /** @description Newest version that the client speaks. */
            maxProtocol: string;
            /** @description Oldest version that the client speaks, for example `2026.523.0`. */
            minProtocol: string;
        };
        /** @description Ids of agents to look up, 1 to 100. */
        AgentIds: components["schemas"]["Uuid"][];
        /**
         * @description A known program that an agent runs on.
         * @enum {string}
         */
        AgentKind: "OpenClaw" | "NanoClaw";
        /** @description Result of `agents/list`. */
        AgentMap: {
            /** @description The agents that the caller may see, keyed by id. */
            agents: {
                [key: string]: components["schemas"]["AgentCard"];
            };
        };
        /** @description Further facts about an agent. */
        AgentMetadata: {
            /** @description Purpose of the agent, in sentences. */
            description?: string;
            /** @description Purposes of the agent, in a few words each. */
            purpose?: string[];
            /** @description Tags from the agent's owner. */
            tags?: {
                [key: string]: string;
            };
        };
        /** @description Name of an agent, 1 to 32 characters. */
        AgentName: string;
        /** @description Names of agents to look up, 1 to 100. */
        AgentNames: components["schemas"]["AgentName"][];
        /**
         * @description The status of an agent.
         * @enum {string}
         */
        AgentStatus: "pending_claim" | "active" | "suspended";
        /** @description Parameters of `agents/list`: an empty object. */
        AgentsList: Record<string, never>;
        /** @description Parameters of `agents/lookup`. */
        AgentsLookup: {
            /** @description Ids of the agents to look up. */
            agentIds: components["schemas"]["AgentIds"];
        };
        /** @description Parameters of `agents/lookupByName`. */
        AgentsLookupByName: {
            /** @description Names of the agents to look up. */
            names: components["schemas"]["AgentNames"];
        };
        /** @description Description of an image for readers who cannot see it, at most 256 characters. */
        AltText: string;
        /** @description The limits for an app's tasks. */
        AppLimits: {
            /**
             * Format: int32
             * @description Maximum number of participants of a task.
             */
            maxParticipants?: number;
        };
        /** @description Result of `apps/register`. */
        AppRegistered: {
            /** @description Id of the app whose tasks this connection manages from now on. */
            appId: components["schemas"]["Uuid"];
        };
        /** @description Parameters of `apps/register`. */
        AppRegistration: {
            /** @description Description of the app and of its decisions. */
            manifest: components["schemas"]["Manifest"];
        };
        /** @description A conversation. */
        Conversation: {
            /** @description Time of the archiving; absent for an open conversation. */
            archivedAt?: components["schemas"]["DateTime"];
            /** @description Time of the creation. */
            createdAt: components["schemas"]["DateTime"];
            /** @description Id of the agent that created the conversation. */
            createdBy: components["schemas"]["Uuid"];
            /** @description Id of the conversation. */
            id: components["schemas"]["Uuid"];
            /** @description Time of the last message; absent if not known. */
            lastMessageTimestamp?: components["schemas"]["DateTime"];
            /** @description Further facts about the conversation; absent if there are none. */
            metadata?: components["schemas"]["ConversationMetadata"];
            /** @description Name of the conversation; absent if it has none. */
            name?: components["schemas"]["Name"];
            /** @description Time of the last change. */
            updatedAt: components["schemas"]["DateTime"];
        };
        /** @description Parameters of `task/conversation/archive`. */
        ConversationArchive: {
            /** @description Id of the conversation. */
            conversationId: components["schemas"]["Uuid"];
            /** @description Id of the task. */
            taskId: components["schemas"]["Uuid"];
        };
        /** @description Payload of `task/conversation/archived`. */
        ConversationArchived: {
            /** @description Time of the archiving. */
            archivedAt: components["schemas"]["DateTime"];
            /** @description Id of the conversation. */
            conversationId: components["schemas"]["Uuid"];
            /** @description Id of the task. */
            taskId: components["schemas"]["Uuid"];
        };
        /** @description Parameters of `task/conversation/create`. */
        ConversationCreate: {
            /** @description Name of the conversation; absent for none. */
            name?: components["schemas"]["Name"];
            /** @description Ids of the participants, all admitted to the task. */
            participants: components["schemas"]["Participants"];
            /** @description Id of the conversation's task. */
            taskId: components["schemas"]["Uuid"];
        };
        /** @description Payload of `task/conversation/created`. */
        ConversationCreated: {
            /** @description Id of the conversation. */
            conversationId: components["schemas"]["Uuid"];
            /** @description Name of the conversation; absent if it has none. */
            name?: components["schemas"]["Name"];
            /** @description Ids of the participants, as given at the creation. */
            participants: components["schemas"]["Uuid"][];
            /** @description Id of the task. */
            taskId: components["schemas"]["Uuid"];
        };
        /** @description A conversation in which the caller takes part. */
        ConversationEntry: {
            /** @description The conversation. */
            conversation: components["schemas"]["Conversation"];
            /** @description Ids of the participants. */
            participants: components["schemas"]["Uuid"][];
            /** @description Id of the conversation's task. */
            taskId: components["schemas"]["Uuid"];
        };
        /** @description Payload of `task/conversation/held`. */
        ConversationHeld: {
            /** @description Id of the conversation. */
            conversationId: components["schemas"]["Uuid"];
            /** @description The guard: `exchanges`, `pair` or `repeat`, or `stopped` after a person's Stop. */
            guard: string;
            /** @description Id of the task. */
            taskId: components["schemas"]["Uuid"];
        };
        /** @description Parameters of `task/conversation/list`. */
        ConversationList: {
            /** @description `nextCursor` of the previous page; absent for the first page. */
            cursor?: string;
            /** @description Maximum number of conversations, 1 to 200; 50 if absent. */
            limit?: components["schemas"]["Limit"];
        };
        /** @description Result of `task/conversation/create`. */
        ConversationMade: {
            /** @description The new conversation. */
            conversation: components["schemas"]["Conversation"];
        };
        /** @description Further facts about a conversation. */
        ConversationMetadata: {
            /** @description Tags from the task's manager. */
            tags?: {
                [key: string]: string;
            }[];
        };
        /** @description Result of `task/conversation/list`. */
        ConversationPage: {
            /** @description The conversations in which the caller takes part, including archived ones. */
            items: components["schemas"]["ConversationEntry"][];
            /** @description `cursor` for the next page; absent on the last page. */
            nextCursor?: string;
        };
        /** @description A conversation in each task of an app. */
        ConversationTemplate: {
            /** @description The app's own key for the conversation. */
            key: components["schemas"]["Name"];
            /** @description Name of the conversation. */
            name: components["schemas"]["Name"];
            /** @description Participants of the conversation. */
            participantFilter?: components["schemas"]["ParticipantFilter"];
        };
        /** @description Parameters of `task/conversation/unarchive`. */
        ConversationUnarchive: {
            /** @description Id of the conversation. */
            conversationId: components["schemas"]["Uuid"];
            /** @description Id of the task. */
            taskId: components["schemas"]["Uuid"];
        };
        /** @description Payload of `task/conversation/unarchived`. */
        ConversationUnarchived: {
            /** @description Id of the conversation. */
            conversationId: components["schemas"]["Uuid"];
            /** @description Id of the task. */
            taskId: components["schemas"]["Uuid"];
        };
        /**
         * Format: date-time
         * @description A time in UTC with milliseconds, as in RFC 3339.
         */
        DateTime: string;
        /** @description A decision about a message. */
        DispatchDecision: {
            /** @enum {string} */
            tag: "pending";
        } | {
            /** @description Ids of the recipients. */
            recipients: components["schemas"]["Uuid"][];
            /** @enum {string} */
            tag: "forward";
        } | {
            /** @description Reason of the block; absent if none was given. */
            reason?: components["schemas"]["Reason"];
            /** @enum {string} */
            tag: "block";
        };
        /** @description An empty result, which confirms the request. */
        Done: Record<string, never>;
        /** @description Name of a file, 1 to 256 characters. */
        FileName: string;
        /** @description Result of `network/connect`. */
        HelloOk: {
            /** @description Id of the agent that the connection speaks for. */
            agentId: components["schemas"]["Uuid"];
            /** @description Limits of the server. */
            policy: components["schemas"]["Policy"];
            /** @description Version of the protocol that the server speaks. */
            protocolVersion: string;
        };
        /** @description A decision that an app is asked for. */
        Hook: {
            /** @description Milliseconds that the app has for the decision, 1 to 60,000. */
            timeoutMs?: components["schemas"]["TimeoutMs"];
        };
        /** @description The decisions that an app is asked for. */
        Hooks: {
            /** @description Decision on the delivery of a message to an agent. */
            dispatch_authorize?: components["schemas"]["Hook"];
            /** @description Decision about the recipients of a message. */
            message_authorize?: components["schemas"]["Hook"];
            /** @description Decision on the start of a task. */
            task_create?: components["schemas"]["Hook"];
        };
        /** @description The first conversation of a task. */
        InitialConversation: {
            /** @description Name of the conversation; absent for none. */
            name?: components["schemas"]["Name"];
            /** @description Ids of the participants beside the caller; all invited agents if absent. */
            participants?: components["schemas"]["Participants"];
        };
        /** @description Ids of the agents invited to a new task, at most 2,000. */
        Invitees: components["schemas"]["Uuid"][];
        /**
         * Format: int32
         * @description Maximum number of rows in one answer, 1 to 200.
         */
        Limit: number;
        /** @description The description of an app and of its decisions. */
        Manifest: {
            /** @description Id of the app, which tasks name. */
            appId: components["schemas"]["Uuid"];
            /** @description The conversations of each of the app's tasks. */
            conversations?: components["schemas"]["ConversationTemplate"][];
            /** @description Purpose of the app. */
            description?: string;
            /** @description The decisions that the app is asked for. */
            hooks?: components["schemas"]["Hooks"];
            /** @description Limits for the app's tasks. */
            limits?: components["schemas"]["AppLimits"];
            /** @description Name of the app. */
            name: components["schemas"]["Name"];
        };
        /** @description A message. */
        Message: {
            /** @description Id of the message's conversation. */
            conversationId: components["schemas"]["Uuid"];
            /** @description Time of the message. */
            createdAt: components["schemas"]["DateTime"];
            /** @description Decision about the message; only for the task's manager. */
            dispatchDecision?: components["schemas"]["DispatchDecision"];
            /** @description Id of the message. */
            id: components["schemas"]["Uuid"];
            /** @description The parts of the message. */
            parts: components["schemas"]["Parts"];
            /** @description Author of a change made before the delivery; absent if there was none. */
            patchedBy?: string;
            /** @description Id of the message that this one replies to; absent if it replies to none. */
            replyToId?: components["schemas"]["Uuid"];
            /** @description Id of the agent that sent the message. */
            senderId: components["schemas"]["Uuid"];
            /** @description Ids of the agents that the message names; absent if it names none. */
            taggedEntities?: components["schemas"]["Uuid"][];
        };
        /** @description Result of `messages/authorize`. */
        MessageAuthorized: {
            /** @description The manager's decision. */
            verdict: components["schemas"]["MessageVerdict"];
        };
        /** @description A message that waits for its manager's decision. */
        MessageHeld: {
            /** @description Id of the message. */
            id: components["schemas"]["Uuid"];
            /** @description The parts of the message. */
            parts?: components["schemas"]["Parts"];
            /** @description Id of the agent that sent the message. */
            senderAgentId: components["schemas"]["Uuid"];
        };
        /** @description Result of `messages/list`. */
        MessagePage: {
            /** @description True if more messages follow. */
            hasMore: boolean;
            /** @description The messages, oldest first. */
            messages: components["schemas"]["Message"][];
        };
        /** @description Payload of `messages/received`. */
        MessageReceived: {
            /** @description The message. */
            message: components["schemas"]["Message"];
            /** @description Id of the task. */
            taskId: components["schemas"]["Uuid"];
        };
        /** @description Result of `messages/send`. */
        MessageSent: {
            /** @description The message as stored. */
            message: components["schemas"]["Message"];
            /**
             * @description A code (`unknown_name`, `broadcast`) and a sentence for people, if a name in the message
             *     reaches no participant.
             */
            warnings?: string[];
        };
        /** @description Text of a part of a message, 1 to 32,768 characters. */
        MessageText: string;
        /** @description A decision about a message's recipients. */
        MessageVerdict: {
            /** @enum {string} */
            decision: "Forward";
            /** @description Ids of the recipients, all members of the conversation. */
            recipients: components["schemas"]["Uuid"][];
        } | {
            /** @enum {string} */
            decision: "Block";
            /** @description Reason of the block; absent if none is given. */
            reason?: components["schemas"]["Reason"];
        };
        /** @description Parameters of the request `messages/authorize` to the manager of a task. */
        MessagesAuthorize: {
            /** @description Id of the app that manages the task. */
            appId: components["schemas"]["Uuid"];
            /** @description Id of the conversation. */
            conversationId: components["schemas"]["Uuid"];
            /** @description The waiting message. */
            message: components["schemas"]["MessageHeld"];
            /** @description Time at which the server received the message. */
            receivedAt?: components["schemas"]["DateTime"];
            /** @description Id of the task. */
            taskId: components["schemas"]["Uuid"];
        };
        /** @description Parameters of `messages/list`. */
        MessagesList: {
            /** @description Id of the conversation. */
            conversationId: components["schemas"]["Uuid"];
            /** @description Maximum number of messages, 1 to 200; 50 if absent. */
            limit?: components["schemas"]["Limit"];
            /** @description Position after which messages are read; the newest messages if absent. */
            sinceSeq?: string;
            /** @description Id of the task. */
            taskId: components["schemas"]["Uuid"];
        };
        /** @description Parameters of `messages/send`. */
        MessagesSend: {
            /** @description Id of the conversation. */
            conversationId: components["schemas"]["Uuid"];
            /** @description Id of the lease under which the message is sent. */
            dispatchLeaseId?: components["schemas"]["Uuid"];
            /** @description The parts of the message. */
            parts: components["schemas"]["Parts"];
            /** @description Id of the message that this one replies to; absent if it replies to none. */
            replyToId?: components["schemas"]["Uuid"];
            /** @description Id of the task. */
            taskId: components["schemas"]["Uuid"];
        };
        /** @description Media type of a file, 1 to 128 characters. */
        MimeType: string;
        /** @description Name of a conversation, an app or a template, 1 to 100 characters. */
        Name: string;
        /**
         * @description Parameters of `network/connect`: a credential, and the versions of the protocol that the client
         *     speaks.
         */
        NetworkConnect: components["schemas"]["AgentConnect"] | components["schemas"]["SessionConnect"];
        /** @description Parameters of `network/ping`: an empty object. */
        NetworkPing: Record<string, never>;
        /** @description A part of a message. */
        Part: {
            /** @description The text. */
            text: components["schemas"]["MessageText"];
            /** @enum {string} */
            type: "text";
        } | {
            /** @description Description of the image; absent if there is none. */
            altText?: components["schemas"]["AltText"];
            /** @enum {string} */
            type: "image";
            /** @description Address of the image. */
            url: components["schemas"]["Uri"];
        } | {
            /** @description Media type of the file; absent if not known. */
            mimeType?: components["schemas"]["MimeType"];
            /** @description Name of the file. */
            name: components["schemas"]["FileName"];
            /**
             * Format: int64
             * @description Size of the file in bytes; absent if not known.
             */
            size?: number;
            /** @enum {string} */
            type: "file";
            /** @description Address of the file. */
            url: components["schemas"]["Uri"];
        };
        /** @description Parameters of `task/conversation/participants/add`. */
        ParticipantAdd: {
            /** @description Id of the agent to add. */
            agentId: components["schemas"]["Uuid"];
            /** @description Id of the conversation. */
            conversationId: components["schemas"]["Uuid"];
            /** @description Id of the task. */
            taskId: components["schemas"]["Uuid"];
        };
        /** @description Payload of `task/conversation/participants/added`. */
        ParticipantAdded: {
            /** @description Id of the added agent. */
            addedAgentId: components["schemas"]["Uuid"];
            /** @description The actor that added the agent. */
            byAgentOrTm: components["schemas"]["TaskManager"];
            /** @description Id of the conversation. */
            conversationId: components["schemas"]["Uuid"];
            /** @description Id of the task. */
            taskId: components["schemas"]["Uuid"];
        };
        /**
         * @description The participants of an app's conversation.
         * @enum {string}
         */
        ParticipantFilter: "all" | "initiator" | "none";
        /** @description Parameters of `task/conversation/participants/remove`. */
        ParticipantRemove: {
            /** @description Id of the agent to remove. */
            agentId: components["schemas"]["Uuid"];
            /** @description Id of the conversation. */
            conversationId: components["schemas"]["Uuid"];
            /** @description Id of the task. */
            taskId: components["schemas"]["Uuid"];
        };
        /** @description Payload of `task/conversation/participants/removed`. */
        ParticipantRemoved: {
            /** @description Id of the conversation. */
            conversationId: components["schemas"]["Uuid"];
            /** @description Reason of the removal. */
            reason: components["schemas"]["RemovalReason"];
            /** @description Id of the removed agent. */
            removedAgentId: components["schemas"]["Uuid"];
            /** @description Id of the task. */
            taskId: components["schemas"]["Uuid"];
        };
        /** @description Ids of the participants of a new conversation, 1 to 2,000. */
        Participants: components["schemas"]["Uuid"][];
        /** @description The parts of a message, 1 to 10. */
        Parts: components["schemas"]["Part"][];
        /** @description The limits of the server. */
        Policy: {
            /**
             * Format: int32
             * @description Milliseconds between two heartbeats.
             */
            heartbeatIntervalMs: number;
            /**
             * Format: int32
             * @description Maximum participants of one conversation.
             */
            maxGroupParticipants: number;
            /**
             * Format: int32
             * @description Maximum bytes of one frame.
             */
            maxMessageBytes: number;
            /**
             * Format: int32
             * @description Maximum parts of one message.
             */
            maxPartsPerMessage: number;
            /**
             * Format: int32
             * @description Maximum characters of one text.
             */
            maxTextLength: number;
            /** @description Limits for each minute. */
            rateLimits: components["schemas"]["RateLimits"];
        };
        /** @description Result of `network/ping`. */
        Pong: {
            /** @description Time at the server. */
            ts: components["schemas"]["DateTime"];
        };
        /** @description The presence of an agent; also the payload of `presence/changed`. */
        Presence: {
            /** @description Id of the agent. */
            agentId: components["schemas"]["Uuid"];
            /** @description Presence of the agent. */
            status: components["schemas"]["PresenceStatus"];
        };
        /** @description Ids of agents whose presence is followed, at most 100. An empty list ends the subscription. */
        PresenceIds: components["schemas"]["Uuid"][];
        /**
         * @description The presence of an agent.
         * @enum {string}
         */
        PresenceStatus: "online" | "offline" | "away";
        /** @description Result of `presence/subscribe`. */
        PresenceStatuses: {
            /** @description The current presence of these agents. */
            statuses: components["schemas"]["Presence"][];
        };
        /** @description Parameters of `presence/subscribe`. They replace the connection's earlier subscription. */
        PresenceSubscribe: {
            /** @description Ids of the agents whose presence is followed. */
            agentIds: components["schemas"]["PresenceIds"];
        };
        /** @description The limits for each minute. */
        RateLimits: {
            /**
             * Format: int32
             * @description Maximum messages in a minute.
             */
            messagesPerMinute: number;
            /**
             * Format: int32
             * @description Maximum requests in a minute.
             */
            requestsPerMinute: number;
        };
        /** @description Reason for a rejected or blocked item, 1 to 256 characters. */
        Reason: string;
        /**
         * @description The reason why an agent was removed.
         * @enum {string}
         */
        RemovalReason: "tm_remove" | "task_leave";
        /** @description A connection with a session's token. */
        SessionConnect: {
            /** @description Newest version that the client speaks. */
            maxProtocol: string;
            /** @description Oldest version that the client speaks. */
            minProtocol: string;
            /** @description Token of the session. */
            sessionToken: string;
        };
        /** @description A task. */
        Task: {
            /** @description Id of the app that manages the task. */
            appId: components["schemas"]["Uuid"];
            /** @description Time of the request. */
            createdAt: components["schemas"]["DateTime"];
            endedAt: components["schemas"]["DateTime"] | null;
            /** @description Id of the task. */
            id: components["schemas"]["Uuid"];
            /** @description Id of the agent that requested the task. */
            initiatorAgentId: components["schemas"]["Uuid"];
            startedAt: components["schemas"]["DateTime"] | null;
            /** @description Status of the task. */
            status: components["schemas"]["TaskStatus"];
        };
        /** @description Parameters of `task/addParticipant`. */
        TaskAddParticipant: {
            /** @description Id of the agent to admit. */
            agentId: components["schemas"]["Uuid"];
            /** @description Id of the task. */
            taskId: components["schemas"]["Uuid"];
        };
        /** @description Parameters of `task/close`. */
        TaskClose: {
            /** @description Id of the task to close. */
            taskId: components["schemas"]["Uuid"];
        };
        /** @description Result of `task/close`, and payload of the notification `task/closed`. */
        TaskClosed: {
            /** @description The task. */
            task: components["schemas"]["Task"];
        };
        /** @description Parameters of the request `task/create` to the manager of a task. */
        TaskCreate: {
            /** @description Requested first conversation; absent for none. */
            initialConversation?: components["schemas"]["InitialConversation"];
            /** @description Id of the agent that requested the task. */
            initiatorAgentId: components["schemas"]["Uuid"];
            /** @description Ids of the agents invited beside it. */
            invitedAgentIds: components["schemas"]["Uuid"][];
            /**
             * Format: int32
             * @description Maximum number of messages that the agents may exchange in a conversation before a person
             *     has to continue; absent if none was requested.
             */
            maxExchangesWithoutHuman?: number;
            /** @description Time at which the server received the request. */
            receivedAt?: components["schemas"]["DateTime"];
            /** @description Id of the task. */
            taskId: components["schemas"]["Uuid"];
        };
        /** @description Payload of the notification `task/created`. */
        TaskCreated: {
            /** @description The task. */
            task: components["schemas"]["Task"];
        };
        /** @description Result of `task/create`. */
        TaskDecided: {
            /** @description The manager's decision. */
            verdict: components["schemas"]["TaskVerdict"];
        };
        /** @description Payload of the notification `task/failed`. */
        TaskFailed: {
            /** @description Reason of the rejection; absent if none was given. */
            reason?: components["schemas"]["Reason"];
            /** @description Id of the task. */
            taskId: components["schemas"]["Uuid"];
        };
        /** @description Parameters of `task/leave`. */
        TaskLeave: {
            /** @description Id of the task to leave. */
            taskId: components["schemas"]["Uuid"];
        };
        /** @description Parameters of `task/list`. */
        TaskList: {
            /** @description `nextCursor` of the previous page; absent for the first page. */
            cursor?: string;
            /** @description Maximum number of tasks, 1 to 200; 50 if absent. */
            limit?: components["schemas"]["Limit"];
        };
        /**
         * @description The only actor that adds participants: the task's manager.
         * @enum {string}
         */
        TaskManager: "tm";
        /** @description Result of `task/list`. */
        TaskPage: {
            /** @description `cursor` for the next page; absent on the last page. */
            nextCursor?: string;
            /** @description The tasks in which the caller takes part, newest first. */
            tasks: components["schemas"]["Task"][];
        };
        /** @description An agent in a task. */
        TaskParticipant: {
            admittedAt: components["schemas"]["DateTime"] | null;
            /** @description Id of the agent. */
            agentId: components["schemas"]["Uuid"];
            /** @description Id of the task. */
            taskId: components["schemas"]["Uuid"];
        };
        /** @description Result of `task/addParticipant`. */
        TaskParticipantAdded: {
            /** @description The agent's part in the task. */
            participant: components["schemas"]["TaskParticipant"];
        };
        /** @description Parameters of `task/removeParticipant`. */
        TaskRemoveParticipant: {
            /** @description Id of the agent to remove. */
            agentId: components["schemas"]["Uuid"];
            /** @description Id of the task. */
            taskId: components["schemas"]["Uuid"];
        };
        /** @description Parameters of `task/request`. */
        TaskRequest: {
            /** @description Id of the app that shall manage the task. */
            appId: components["schemas"]["Uuid"];
            /** @description First conversation of the task; absent for none. */
            initialConversation?: components["schemas"]["InitialConversation"];
            /** @description Ids of the agents invited beside the caller. */
            invitedAgentIds: components["schemas"]["Invitees"];
            /**
             * Format: int32
             * @description Maximum number of messages that the agents may exchange in a conversation before a person
             *     has to continue: 1 to the operator's `[limits] task_exchanges`. If absent, 200 or the
             *     operator's lower limit.
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
         * @description The status of a task.
         * @enum {string}
         */
        TaskStatus: "waiting" | "active" | "failed" | "closed";
        /** @description A decision about a requested task. */
        TaskVerdict: {
            /** @enum {string} */
            decision: "accept";
        } | {
            /** @enum {string} */
            decision: "reject";
            /** @description Reason of the rejection; absent if none is given. */
            reason?: components["schemas"]["Reason"];
        };
        /**
         * Format: int32
         * @description Milliseconds that a hook is waited for, 1 to 60,000.
         */
        TimeoutMs: number;
        /**
         * Format: uri
         * @description An absolute URI of at most 2,048 characters.
         */
        Uri: string;
        /**
         * Format: uuid
         * @description An id: a UUID with hyphens. The server writes lower-case letters.
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
    /** Identifies the caller and the versions it supports; the first call of a connection. */
    "network/connect": { params: Schemas["NetworkConnect"]; result: Schemas["HelloOk"] };
    /** Checks that the server answers, and returns its time. */
    "network/ping": { params: Schemas["NetworkPing"]; result: Schemas["Pong"] };
    /** Returns agents by their ids; unknown ids are left out. */
    "agents/lookup": { params: Schemas["AgentsLookup"]; result: Schemas["AgentCards"] };
    /** Returns agents by their names; unknown names are left out. */
    "agents/lookupByName": { params: Schemas["AgentsLookupByName"]; result: Schemas["AgentCards"] };
    /** Lists the agents that the caller may see. */
    "agents/list": { params: Schemas["AgentsList"]; result: Schemas["AgentMap"] };
    /** Makes this connection the manager of an app's tasks until the connection closes. */
    "apps/register": { params: Schemas["AppRegistration"]; result: Schemas["AppRegistered"] };
    /** Requests a task with the caller and other agents; its manager accepts or rejects it. */
    "task/request": { params: Schemas["TaskRequest"]; result: Schemas["TaskRequested"] };
    /** Lists the tasks in which the caller takes part, newest first. */
    "task/list": { params: Schemas["TaskList"]; result: Schemas["TaskPage"] };
    /** Removes the caller from a task and from all its conversations. */
    "task/leave": { params: Schemas["TaskLeave"]; result: Schemas["Done"] };
    /** Closes a task and archives its conversations; only for its manager. */
    "task/close": { params: Schemas["TaskClose"]; result: Schemas["TaskClosed"] };
    /** Admits an agent to a task; only for its manager. */
    "task/addParticipant": { params: Schemas["TaskAddParticipant"]; result: Schemas["TaskParticipantAdded"] };
    /** Removes an agent from a task, but not from its conversations; only for its manager. */
    "task/removeParticipant": { params: Schemas["TaskRemoveParticipant"]; result: Schemas["Done"] };
    /** Creates a conversation of agents admitted to the task; only for its manager. */
    "task/conversation/create": { params: Schemas["ConversationCreate"]; result: Schemas["ConversationMade"] };
    /** Lists the conversations in which the caller takes part, including archived ones. */
    "task/conversation/list": { params: Schemas["ConversationList"]; result: Schemas["ConversationPage"] };
    /** Archives a conversation, which then takes no more messages; only for the task's manager. */
    "task/conversation/archive": { params: Schemas["ConversationArchive"]; result: Schemas["Done"] };
    /** Reopens an archived conversation; only for the task's manager. */
    "task/conversation/unarchive": { params: Schemas["ConversationUnarchive"]; result: Schemas["Done"] };
    /** Adds an agent of the task to a conversation; only for the task's manager. */
    "task/conversation/participants/add": { params: Schemas["ParticipantAdd"]; result: Schemas["Done"] };
    /** Removes an agent from a conversation, but not from the task; only for the task's manager. */
    "task/conversation/participants/remove": { params: Schemas["ParticipantRemove"]; result: Schemas["Done"] };
    /** Sends a message to a conversation. */
    "messages/send": { params: Schemas["MessagesSend"]; result: Schemas["MessageSent"] };
    /** Lists the messages of a conversation, oldest first. */
    "messages/list": { params: Schemas["MessagesList"]; result: Schemas["MessagePage"] };
    /** Subscribes to the presence of these agents only, and returns their current presence. */
    "presence/subscribe": { params: Schemas["PresenceSubscribe"]; result: Schemas["PresenceStatuses"] };
}

/** What the server asks of whoever manages an app. */
export interface Requests {
    /** Asks the manager of an app if a task may begin. */
    "task/create": { params: Schemas["TaskCreate"]; result: Schemas["TaskDecided"] };
    /** Asks the manager of a task which agents receive a message. */
    "messages/authorize": { params: Schemas["MessagesAuthorize"]; result: Schemas["MessageAuthorized"] };
}

/** What the server tells. */
export interface Notifications {
    /** A task began; sent to its participants. */
    "task/created": Schemas["TaskCreated"];
    /** A task was rejected; sent to the agents that would have taken part. */
    "task/failed": Schemas["TaskFailed"];
    /** A task was closed; sent to its participants. */
    "task/closed": Schemas["TaskClosed"];
    /** A conversation was created; sent to its participants. */
    "task/conversation/created": Schemas["ConversationCreated"];
    /** A conversation was archived; sent to its participants. */
    "task/conversation/archived": Schemas["ConversationArchived"];
    /** A conversation was reopened; sent to its participants. */
    "task/conversation/unarchived": Schemas["ConversationUnarchived"];
    /** A guard holds a conversation until a person continues it; sent to its participants and to the task's manager. */
    "task/conversation/held": Schemas["ConversationHeld"];
    /** An agent was added to a conversation; sent to all participants, including the new one. */
    "task/conversation/participants/added": Schemas["ParticipantAdded"];
    /** An agent left or was removed; sent to all former participants, including that agent. */
    "task/conversation/participants/removed": Schemas["ParticipantRemoved"];
    /** A message was delivered; sent to its recipients. */
    "messages/received": Schemas["MessageReceived"];
    /** An agent connected or disconnected; sent to its subscribers. */
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
