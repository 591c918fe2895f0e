// The message of a contract, which anybody may have written, reaches the terminal of who calls it.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import t, { type Test } from 'tap';
import { run } from '../../run.ts';

const COMMANDS = '\x1b[2J\x1b]0;title\x07\u009b8m\r\nIt was executed';
const SHOWN = '\\u001b[2J\\u001b]0;title\\u0007\\u009b8m\\u000d\\u000aIt was executed';

/** Answers of a node in which a miner has told how a call went; any other question is refused. */
async function nodeWith(
  t: Test,
  record: Readonly<Record<string, unknown>>,
  waiting?: Readonly<Record<string, unknown>>,
): Promise<string> {
  const server = createServer((request, response) => {
    const path = request.url ?? '';
    const answer = path.startsWith('/transactions/signAndBroadcast')
      ? { type: 104, id: 'call' }
      : path === '/contracts/status/call'
        ? [record]
        : path === '/transactions/unconfirmed/info/call'
          ? waiting
          : undefined;
    response.writeHead(answer === undefined ? 404 : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(answer ?? { error: 600, message: `no \x1b[31m ${COMMANDS}` }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

for (const [status, code, exitCode, said] of [
  ['Error', '3', 3, 'The contract refused it'],
  ['Failure', null, 4, 'It was not executed'],
] as const) {
  t.test(`a message with ${status} commands no terminal`, async (t) => {
    const record = { sender: 'miner', txId: 'call', status, code, message: COMMANDS };
    const url = await nodeWith(t, record);
    const call = ['contract', 'call', 'contract', '--url', url, '--sender', 'me', '--wait', '5'];
    const done = await run([...call, '--contract-version', '1']);
    t.equal(done.code, exitCode, done.stderr);
    t.equal(done.stderr, `${said}: ${SHOWN} (miner miner)\n`);
    t.match(JSON.parse(done.stdout), { message: COMMANDS }, 'a program gets it unchanged');
  });
}

t.test('nor does the refusal of a node', async (t) => {
  const url = await nodeWith(t, {});
  const { code, stderr } = await run(['contract', 'show', 'contract', '--url', url]);
  t.equal(code, 1);
  t.notMatch(stderr, /(?!\n)\p{C}/u);
  t.match(stderr, 'It was executed');
});

t.test('a call whose block was taken back waits, whatever was said of it', async (t) => {
  const record = { sender: 'miner', txId: 'call', status: 'Success', code: null, message: 'mined' };
  const status = async (waiting?: { readonly id: string }): Promise<unknown> => {
    const done = await run([
      ...['contract', 'status', 'call'],
      ...['--url', await nodeWith(t, record, waiting)],
    ]);
    t.equal(done.code, 0, done.stderr);
    return JSON.parse(done.stdout);
  };
  const transaction = { id: 'call' };
  t.strictSame(await status(transaction), {
    ...{ txId: 'call', status: 'Waiting', records: [record], transaction },
  });
  const ahead = { txId: 'call', status: 'Success', records: [record] };
  t.strictSame(await status(), ahead, 'its block is on its way to this node');
});
