/**
 * docs/limits.md: the budgets of requests, printed from the declarations that the server enforces.
 */

import { apiError } from '../../src/base/errors.ts';
import { DEPTH_MAX } from '../../src/base/json/json.ts';
import { KIB, MIB, type PeerBudget } from '../../src/base/limits/budget.ts';
import { contractBudgets } from '../../src/contracts/statuses/status-messages.ts';
import { networkBudgets } from '../../src/network/messages/message-budgets.ts';
import { settings } from '../../src/node/config/settings.ts';
import { privacyBudgets } from '../../src/privacy/serving/privacy-budgets.ts';
import { internalRoutes } from '../../src/rest/internal-contracts.ts';
import { limits } from '../../src/rest/limits.ts';
import { routes } from '../../src/rest/routes/index.ts';
import type { AnyRoute } from '../../src/rest-framework/route.ts';
import { budgetOf, mayWait } from '../../src/rest-framework/route-budget.ts';

const number = (value: number): string => value.toLocaleString('en-US');

function bytes(value: number): string {
  if (value === 0) return '–';
  if (value % MIB === 0) return `${value / MIB} MiB`;
  return value % KIB === 0 ? `${value / KIB} KiB` : number(value);
}

/** The budgets of all messages between nodes, by protocol, with default settings. */
function messageBudgets(): [string, PeerBudget][] {
  const blockBytes = Number(settings.miner['max-block-size-in-bytes'].fallback);
  const parallelism = Number(settings.privacy.replier.parallelism.fallback);
  return [...networkBudgets(blockBytes), ...contractBudgets, ...privacyBudgets(parallelism)];
}

function messageRow([protocol, budget]: [string, PeerBudget]): string {
  const { bytesIn, elements, bytesOut, concurrent, pace } = budget;
  const cells = [
    `\`${protocol}\``,
    bytes(bytesIn),
    elements === 0 ? '–' : number(elements),
    bytes(bytesOut),
    concurrent === 0 ? '–' : number(concurrent),
    number(pace.messages),
    bytes(pace.bytes),
    budget.streamed ? 'yes' : '–',
  ];
  return `| ${cells.join(' | ')} |`;
}

function routeRow(route: AnyRoute): string {
  const { bytesIn, elements, rows, bytesOut, streamed } = budgetOf(route);
  const cells = [
    `\`${route.method} ${route.path}\``,
    bytes(bytesIn),
    elements === 0 ? '–' : number(elements),
    streamed ? number(rows) : '–',
    bytes(bytesOut),
    streamed ? 'yes' : '–',
    mayWait(route) ? 'yes' : '–',
  ];
  return `| ${cells.join(' | ')} |`;
}

const noExecution = (): never => {
  throw apiError('ContractTokenMissing');
};

export function limitsPage(): string {
  const rows = [...routes, ...internalRoutes(noExecution)].map(routeRow);
  return `# What requests may cost

This page is generated from the declarations in \`src/rest/routes\`,
\`src/network/messages/message-budgets.ts\`, \`src/contracts/statuses/status-messages.ts\` and
\`src/privacy/serving/privacy-budgets.ts\`; do not edit it. The node refuses what is over a budget before it
works on it. \`npm run test:cost\` sends to each route and each protocol the costliest input that its
budget allows, and input that is one step costlier.

## The disk

With less than \`storage.free-space-min\` (${settings.storage['free-space-min'].fallback}) free on the disk of \`data-directory\`, the node
takes no transactions (503, code 640) and makes no blocks. It goes on when a twentieth more than that
is free.

## Requests of clients

* **Body**: a longer body is refused with 400 and code 611. JSON has at most
  ${number(limits.body.values)} values and ${DEPTH_MAX} levels.
* **Elements** of all lists in the body together: a request with more is refused with 400 and code 10.
* **Rows** of the state that an answer in turns reads: a request that needs more is refused with 413.
* **Answer**: a request whose answer would be longer is refused with 413.
* **In turns**: the answer shows one state of the chain, and its work gives way to everything else
  every few milliseconds. The node makes a few such answers at a time.
* **May wait**: the request is refused with 503 and \`Retry-After\` while too many such requests wait.
  Other requests are never refused for that reason.

| Operation | Body | Elements | Rows | Answer | In turns | May wait |
|---|---:|---:|---:|---:|---|---|
${rows.join('\n')}

## Connections

A client that sends its body too slowly, reads its answer too slowly or sends more requests on one
connection than a turn of the event loop serves loses that connection and nothing else. A body over
1 MiB that has no room beside the others is refused with 503 before it arrives, and there is always room
for shorter ones. The bounds stand in \`src/adapters/http/bounds.ts\`. With \`rest-api.threads\` all
threads together keep them.

## Messages between nodes

The table says what one registered peer may send, whatever the number of its streams. Sizes of blocks and
numbers of answers at once are those of the default settings (\`miner.max-block-size-in-bytes\`, \`privacy.replier.parallelism\`).

* **Message**: a longer message ends the session before it is read.
* **Elements** of the message: a message with more is malformed, which is an offence.
* **Answer**: the longest answer to a request. Messages without an answer are notices. An item of
  confidential data goes out in many messages of this length.
* **At once**: so many requests of one peer are answered at a time; its other requests wait.
* **Messages** and **bytes** in a second, answers included. The node delays the reading of faster messages,
  which holds back this peer alone. A peer that sends notices faster for a minute loses its session.
* **In turns**: the work gives way to everything else every few milliseconds.

| Protocol | Message | Elements | Answer | At once | Messages | Bytes | In turns |
|---|---:|---:|---:|---:|---:|---:|---|
${messageBudgets().map(messageRow).join('\n')}
`;
}
