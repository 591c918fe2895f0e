/**
 * docs/limits.md: the budgets of requests, printed from the declarations that the server enforces.
 */

import { internalRoutes } from '../api/internal-contracts.ts';
import { limits } from '../api/limits.ts';
import { budgetOf, mayWait } from '../api/route-budget.ts';
import { routes } from '../api/routes/index.ts';
import { KIB, MIB, type PeerBudget } from '../base/budget.ts';
import { apiError } from '../base/errors.ts';
import { DEPTH_MAX } from '../base/json.ts';
import { contractBudgets } from '../contracts/statuses/status-messages.ts';
import { networkBudgets } from '../network/messages/message-budgets.ts';
import { privacyBudgets } from '../privacy/privacy-budgets.ts';
import { settings } from './config/settings.ts';

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
    budget.inTurns ? 'yes' : '–',
  ];
  return `| ${cells.join(' | ')} |`;
}

const noExecution = (): never => {
  throw apiError('ContractTokenMissing');
};

export function limitsPage(): string {
  const rows = [...routes, ...internalRoutes(noExecution)].map((route) => {
    const { bytesIn, elements, rows, bytesOut, inTurns } = budgetOf(route);
    const cells = [
      `\`${route.method} ${route.path}\``,
      bytes(bytesIn),
      elements === 0 ? '–' : number(elements),
      inTurns ? number(rows) : '–',
      bytes(bytesOut),
      inTurns ? 'yes' : '–',
      mayWait(route) ? 'yes' : '–',
    ];
    return `| ${cells.join(' | ')} |`;
  });
  return `# What requests may cost

Generated from the declarations in \`src/api/routes\`, \`src/network/messages/message-budgets.ts\`,
\`src/contracts/statuses/status-messages.ts\` and \`src/privacy/privacy-budgets.ts\`; do not edit. The node enforces these budgets before it spends the work, and
\`npm run test:cost\` sends to each route and each protocol the worst that its budget allows and one
step beyond.

## The disk

With less than \`storage.free-space-min\` (${settings.storage['free-space-min'].fallback}) free on the disk of \`data-directory\`, the node
takes no transactions (503, code 640) and makes no blocks, until there is a twentieth more.

## Requests of clients

* **Body**: longer ones are refused with 400 and code 611. JSON has at most
  ${number(limits.body.values)} values and ${DEPTH_MAX} levels.
* **Elements** of all lists in the body together: more are refused with 400 and code 10.
* **Answer**: one of more bytes is refused with 413.
* **Rows** of the state, for answers in turns: more are refused with 413.
* **In turns**: the answer shows one state of the chain, and its work gives way to everything else
  every few milliseconds. A few such answers are made at a time.
* **May wait**: refused with 503 and \`Retry-After\` while too many of them wait. The others never are.

| Operation | Body | Elements | Rows | Answer | In turns | May wait |
|---|---:|---:|---:|---:|---|---|
${rows.join('\n')}

## Connections

A client that sends its body too slowly, reads its answer too slowly or sends more requests on one
connection than a turn of the event loop serves loses that connection and nothing else. A body over
1 MiB that has no room beside the others is refused with 503 before it arrives, and there is always room
for shorter ones. The bounds stand in \`src/adapters/http/server.ts\`. With \`rest-api.threads\` all
threads together keep them.

## Messages between nodes

What one registered peer may send, whatever the number of its streams. Block sizes and places are those
of the default settings (\`miner.max-block-size-in-bytes\`, \`privacy.replier.parallelism\`).

* **Message**: a longer one ends the session before it is read.
* **Elements** of the message: more of them are malformed, which is an offence.
* **Answer**: of a request; messages without an answer are notices. An item of confidential data goes out
  in many messages of this length.
* **At once**: requests of one peer that are answered at a time; the others wait.
* **Messages** and **bytes** in a second, answers included. The node reads what is faster only when it is
  due, which holds back this peer alone. A peer that sends notices faster for a minute loses its session.
* **In turns**: the work gives way to everything else every few milliseconds.

| Protocol | Message | Elements | Answer | At once | Messages | Bytes | In turns |
|---|---:|---:|---:|---:|---:|---:|---|
${messageBudgets().map(messageRow).join('\n')}
`;
}
