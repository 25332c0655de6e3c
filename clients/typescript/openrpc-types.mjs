// Writes the types of the messages over /ws, generated from their description:
//
//     node openrpc-types.mjs ../../docs/reference/openrpc.json openrpc.d.ts

import { readFileSync, writeFileSync } from 'node:fs';

import openapiTS, { astToString } from 'openapi-typescript';

const [from, to] = process.argv.slice(2);
const { info, methods, components } = JSON.parse(readFileSync(from, 'utf8'));
// The schemas are OpenAPI schemas, so the OpenAPI generator can convert them.
const schemas = await openapiTS({ openapi: '3.1.0', info, paths: {}, components: { schemas: components.schemas } });

const type = ({ $ref }) => `Schemas["${$ref.split('/').at(-1)}"]`;
const entry = (summary, name, value) => `    /** ${summary} */\n    ${JSON.stringify(name)}: ${value};\n`;

/** Returns an interface with one entry for each wanted method. */
function table(name, meaning, wanted) {
  const entries = methods.filter(wanted).map((method) => {
    const params = type(method['x-params']);
    const both = () => `{ params: ${params}; result: ${type(method.result.schema)} }`;
    return entry(method.summary, method.name, method.result ? both() : params);
  });
  return `/** ${meaning} */\nexport interface ${name} {\n${entries.join('')}}\n`;
}

const errors = Object.entries(components.errors).map(([name, error]) => entry(error.message, name, error.code));
const text = [
  '// Made by openrpc-types.mjs of docs/reference/openrpc.json, and not changed by hand.\n',
  astToString(schemas).replace(/^export type (paths|webhooks|operations|\$defs).*\n/gm, ''),
  'export type Schemas = components["schemas"];\n',
  table('Methods', 'What a client calls.', (method) => method['x-sender'] === 'client'),
  table('Requests', 'What the server asks of whoever manages an app.', (m) => m['x-sender'] === 'server' && m.result),
  table('Notifications', 'What the server tells.', (method) => method['x-sender'] === 'server' && !method.result),
  `/** The numbers of errors. */\nexport interface Errors {\n${errors.join('')}}\n`,
];
writeFileSync(to, text.join('\n'));
