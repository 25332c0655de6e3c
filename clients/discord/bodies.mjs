// Validates the bodies of calls against schemas that are generated from Discord's own OpenAPI description.
//
// Usage: node bodies.mjs FOLDER   (journals of the fake, one call of JSON a line)
//
// Only calls that the fake let through are judged: it must be at least as strict as the schemas.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import * as api from "discord-api-spec/zod";

const kinds = {
  4: api.CreateMessageInteractionCallbackRequestSchema,
  5: api.CreateMessageInteractionCallbackRequestSchema,
  6: api.UpdateMessageInteractionCallbackRequestSchema,
  7: api.UpdateMessageInteractionCallbackRequestSchema,
};

// The name of each route that takes a body, with its schema.
const schemas = {
  "POST /channels/{}/messages": () => api.MessageCreateRequestSchema,
  "PATCH /channels/{}/messages/{}": () => api.MessageEditRequestPartialSchema,
  "POST /webhooks/{}/{}": () => api.IncomingWebhookRequestPartialSchema,
  "PATCH /webhooks/{}/{}/messages/{}": () => api.IncomingWebhookUpdateRequestPartialSchema,
  "POST /users/@me/channels": () => api.CreatePrivateChannelRequestSchema,
  "PUT /applications/{}/commands": () => api.ApplicationCommandUpdateRequestSchema,
  "POST /interactions/{}/{}/callback": (body) => kinds[body.type],
};

function findings({ route, body }) {
  const schema = schemas[route]?.(body);
  if (schema === undefined) return [`no schema for ${route}`];
  return (Array.isArray(body) ? body : [body]).flatMap((one) => {
    const read = schema.safeParse(one);
    return read.success ? [] : read.error.issues.map((issue) => `${issue.path.join(".")}: ${issue.message}`);
  });
}

// Bodies of these routes have no schema of their own in the description.
const skipped = ["POST /channels/{}/webhooks", "POST /channels/{}/typing"];
const judged = new Map();
let failed = 0;
for (const name of readdirSync(process.argv[2])) {
  for (const line of readFileSync(join(process.argv[2], name), "utf8").split("\n").filter(Boolean)) {
    const call = JSON.parse(line);
    const isDone = call.outcome === "done" || call.outcome === "unanswered";
    if (!isDone || /^(GET|DELETE)/.test(call.route) || skipped.includes(call.route)) continue;
    judged.set(call.route, (judged.get(call.route) ?? 0) + 1);
    for (const finding of findings(call)) {
      failed += 1;
      console.error(`${name}: ${finding}\n  ${line.slice(0, 500)}`);
    }
  }
}
const total = [...judged.values()].reduce((sum, count) => sum + count, 0);
if (failed > 0 || total === 0) {
  console.error(`${failed} findings in ${total} bodies`);
  process.exit(1);
}
console.log(`${total} bodies of ${judged.size} routes are valid: ${[...judged.keys()].sort().join(", ")}`);
