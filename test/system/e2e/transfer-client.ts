/**
 * A client in a process of its own: sends transfers to one node, and prints the id of each that the node has
 * acknowledged. It ends with SIGTERM, or with 1 where the node refuses one. Arguments: URL, chain id,
 * seed of the sender, recipient.
 */
import { stringify } from '../../../src/base/json/json.ts';
import { transfersOf } from './signed-transfers.ts';

const [url = '', chainId = '', seed = '', recipient = ''] = process.argv.slice(2);
const PAUSE_MS = 300;

let isOver = false;
process.once('SIGTERM', () => {
  isOver = true;
});

/** Undefined where no node answers there now. */
async function sent(body: string): Promise<Response | undefined> {
  const headers = { 'content-type': 'application/json' };
  const path = `${url}/transactions/broadcast`;
  const answer = await fetch(path, { method: 'POST', headers, body }).catch(() => undefined);
  return answer?.status === 503 ? undefined : answer;
}

const next = transfersOf(seed, chainId, recipient);
while (!isOver) {
  const { id, json } = next();
  const answer = await sent(stringify(json));
  if (answer?.status === 200) console.log(id);
  else if (answer !== undefined) {
    console.error(answer.status, await answer.text());
    process.exitCode = 1;
    break;
  }
  await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
}
