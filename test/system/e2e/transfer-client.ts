/**
 * A client in a process of its own: sends transfers to one node, and prints the id of each that the node has
 * acknowledged. It ends with SIGTERM, or with 1 where the node refuses one. Arguments: URL, chain id,
 * seed of the sender, recipient.
 */
import { transfer } from '@waves/waves-transactions';

const [url = '', chainId = '', seed = '', recipient = ''] = process.argv.slice(2);
const PAUSE_MS = 100;
const FEE = 1_000_000;

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

for (let amount = 1; !isOver; amount++) {
  const about = { version: 2, chainId, recipient, fee: FEE } as const;
  const tx = transfer({ ...about, amount, timestamp: Date.now() }, seed);
  const answer = await sent(JSON.stringify(tx));
  if (answer?.status === 200) console.log(tx.id);
  else if (answer !== undefined) {
    console.error(answer.status, await answer.text());
    process.exitCode = 1;
    break;
  }
  await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
}
