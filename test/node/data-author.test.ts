/**
 * The author of a type 12, who pays for the data of another account: a request whose author would
 * be ignored, or would be refused only at broadcast, is refused at once, on every route.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { httpListener } from '../../src/adapters/http/listener.ts';
import { base58 } from '../../src/base/base58.ts';
import { jsonLines, run } from '../cli/run.ts';
import { compiled } from '../generators/scripts.ts';
import { type Rest, restOf } from '../system/e2e/rest.ts';
import { type Account, type WholeNode, wholeNode } from './in-process.ts';

interface Served extends WholeNode {
  readonly rest: Rest;
  readonly url: string;
  /** An account with the script `true`, one without, one that is the author, a stranger. */
  readonly scripted: Account;
  readonly plain: Account;
  readonly payer: Account;
  readonly guarded: Account;
  readonly stranger: Account;
}

async function served(t: Test): Promise<Served> {
  const whole = await wholeNode(t, { http: httpListener });
  const [, scripted, plain, payer, guarded] = whole.accounts;
  const script = `base64:${Buffer.from(compiled('true')).toString('base64')}`;
  for (const account of [scripted, guarded]) {
    await whole.send(account, { type: 13, script, name: 'open', description: '' });
  }
  await whole.mine();
  const url = `http://127.0.0.1:${whole.node.rest!.port}`;
  const rest = restOf(url, whole.apiKey);
  const stranger = whole.newAccount('a stranger');
  return { ...whole, rest, url, scripted, plain, payer, guarded, stranger };
}

const key = ({ publicKey }: Account): string => base58.encode(publicKey);

const BY_SCRIPT = /author of the data must be its sender, since that has no script/;
const BY_KEY = /author of the data has a script, so its signature is not enough/;
const NO_KEY = /no private key for sender address in wallet/;
const OTHER = /author '\w+' is not the address of authorPublicKey/;

interface Case {
  readonly name: string;
  readonly sender: Account;
  /** Of the request. */
  readonly members: object;
  readonly error: number;
  readonly message: RegExp;
}

const wrong = (of: Served): readonly Case[] => {
  const { scripted, plain, payer, guarded, stranger } = of;
  return [
    { sender: plain, members: { author: payer.text }, error: 112, message: BY_SCRIPT },
    { sender: plain, members: { authorPublicKey: key(payer) }, error: 112, message: BY_SCRIPT },
    { sender: scripted, members: { author: guarded.text }, error: 112, message: BY_KEY },
    { sender: scripted, members: { authorPublicKey: key(guarded) }, error: 112, message: BY_KEY },
    { sender: scripted, members: { author: stranger.text }, error: 115, message: NO_KEY },
    { sender: scripted, members: { authorPublicKey: key(stranger) }, error: 115, message: NO_KEY },
    {
      sender: scripted,
      members: { author: payer.text, authorPublicKey: key(plain) },
      error: 102,
      message: OTHER,
    },
    {
      sender: scripted,
      members: { author: scripted.text, authorPublicKey: key(payer) },
      error: 102,
      message: OTHER,
    },
    { sender: scripted, members: { author: 'nobody' }, error: 102, message: /invalid address/ },
    { sender: scripted, members: { author: 5 }, error: 1, message: /./ },
    { sender: scripted, members: { author: {} }, error: 1, message: /./ },
    { sender: scripted, members: { authorPublicKey: 'x' }, error: 108, message: /public key/ },
    { sender: scripted, members: { authorPublicKey: 5 }, error: 1, message: /./ },
  ].map((one) => ({
    name: `${one.sender === plain ? 'plain' : 'scripted'}: ${named(one)}`,
    ...one,
  }));

  function named({ members }: { members: object }): string {
    const who = [scripted, plain, payer, guarded, stranger];
    const names = ['scripted', 'plain', 'payer', 'guarded', 'stranger'];
    return Object.entries(members)
      .map(([member, value]) => {
        const at = who.findIndex((one) => value === one.text || value === key(one));
        return `${member} ${names[at] ?? JSON.stringify(value)}`;
      })
      .join(', ');
  }
};

const entries = [{ key: 'k', type: 'string', value: 'v' }];

t.test('what the node signs', async (t) => {
  const whole = await served(t);
  const { rest, scripted, plain, payer } = whole;
  for (const path of ['/transactions/sign', '/transactions/signAndBroadcast']) {
    for (const version of [1, 2]) {
      for (const { name, sender, members, error, message } of wrong(whole)) {
        const request = { type: 12, version, sender: sender.text, data: entries, ...members };
        const { status, body } = await rest.post(path, request);
        t.equal(status, 400, `${path} ${name}`);
        t.match(body, { error, message }, `${path} ${name}`);
      }
    }
  }
  t.equal(whole.node.pool.size(), 0);

  for (const [members, author] of [
    [{}, scripted],
    [{ author: null, authorPublicKey: null }, scripted],
    [{ author: scripted.text }, scripted],
    [{ author: payer.text }, payer],
    [{ author: `address:${payer.text}` }, payer],
    [{ authorPublicKey: key(payer) }, payer],
    [{ author: payer.text, authorPublicKey: key(payer) }, payer],
  ] as const) {
    const request = { type: 12, sender: scripted.text, data: entries, ...members };
    const tx = await rest.sign(request);
    const named = { author: author.text, authorPublicKey: key(author), sender: scripted.text };
    t.match(tx, named, JSON.stringify(members));
    const before = whole.balance(author);
    await rest.broadcast(tx);
    await whole.mine();
    t.ok(whole.balance(author) < before, 'who was named pays');
  }
  const own = { type: 12, sender: plain.text, data: entries };
  t.match(await rest.sign({ ...own, author: plain.text }), { author: plain.text });
});

t.test('an author of a type that has none changes nothing', async (t) => {
  const whole = await served(t);
  const { rest, plain, payer } = whole;
  const transfer = { type: 4, version: 2, sender: plain.text, recipient: payer.text, amount: 1 };
  const tx = await rest.sign({ ...transfer, author: payer.text });
  t.notOk('author' in tx);
  await rest.broadcast(tx);
});

t.test('what others have signed', async (t) => {
  const whole = await served(t);
  const { rest, scripted, payer, plain } = whole;
  const tx = await rest.sign({
    type: 12,
    sender: scripted.text,
    author: payer.text,
    data: entries,
  });
  const { authorPublicKey: _, ...without } = tx;
  for (const [name, body, error] of [
    ['another author than the key', { ...tx, author: plain.text }, 102],
    ['an author without a key, which would be the sender', without, 102],
    ['an author that is no text', { ...tx, author: 7 }, 1],
    ['an author that is no address', { ...tx, author: 'x' }, 102],
  ] as const) {
    const answer = await rest.post('/transactions/broadcast', body);
    t.match(answer, { status: 400, body: { error } }, name);
  }
  const { author: __, ...keyOnly } = tx;
  t.equal((await rest.post('/transactions/broadcast', keyOnly)).status, 200);
});

t.test('fees', async (t) => {
  const whole = await served(t);
  const { rest, scripted, payer, plain, guarded, stranger } = whole;
  const price = (sender: Account, members: object) =>
    rest.post('/transactions/calculateFee', {
      type: 12,
      senderPublicKey: key(sender),
      data: entries,
      ...members,
    });
  for (const [sender, members] of [
    [scripted, { authorPublicKey: key(payer) }],
    [scripted, { author: payer.text }],
    [scripted, { author: stranger.text, authorPublicKey: key(stranger) }],
    [plain, {}],
  ] as const) {
    t.match(await price(sender, members), { status: 200, body: { feeAmount: Number } });
  }
  for (const [sender, members, error, message] of [
    [plain, { authorPublicKey: key(payer) }, 112, BY_SCRIPT],
    [scripted, { authorPublicKey: key(guarded) }, 112, BY_KEY],
    [scripted, { author: plain.text, authorPublicKey: key(payer) }, 102, OTHER],
    [scripted, { author: 'x' }, 102, /invalid address/],
    [scripted, { author: 5 }, 1, /./],
  ] as const) {
    t.match(await price(sender, members), { status: 400, body: { error, message } });
  }
});

t.test('by the command', async (t) => {
  const whole = await served(t);
  const { url, apiKey, scripted, plain, payer } = whole;
  const env = { PLATFORM_NODE_API_KEY: apiKey };
  const node = ['--url', url];
  const send = (from: Account, ...fields: string[]) =>
    run(['tx', 'send', 'data', '--sender', from.text, '--data', '[]', ...fields, ...node], { env });
  const refused = await send(plain, '--author', payer.text);
  t.equal(refused.code, 1);
  t.match(refused.stderr, BY_SCRIPT);
  const sent = await send(scripted, '--author', payer.text);
  t.match(jsonLines(sent.stdout)[0], { author: payer.text, sender: scripted.text }, sent.stderr);

  // Without a node, by one key alone.
  const dir = t.testdir({});
  const phrase = 'of one account';
  const own = whole.newAccount(phrase);
  const seed = join(dir, 'seed');
  writeFileSync(seed, `${phrase}\n`);
  const national = whole.family.platformCrypto ? [] : ['--national-crypto'];
  const chain = ['-c', String.fromCharCode(whole.scheme.chainId), ...national];
  const offline = async (members: object) => {
    const input = JSON.stringify({ type: 12, fee: 1, data: [], ...members });
    const { code, stdout } = await run(['tx', 'sign', '--seed-file', seed, ...chain], { input });
    return { code, json: jsonLines(stdout)[0] };
  };
  for (const members of [{}, { author: own.text }, { authorPublicKey: key(own) }]) {
    t.match(await offline(members), { code: 0, json: { author: own.text } });
  }
  for (const [members, error] of [
    [{ author: payer.text }, 115],
    [{ authorPublicKey: key(payer) }, 115],
    [{ author: payer.text, authorPublicKey: key(own) }, 102],
    [{ author: 5 }, 1],
  ] as const) {
    t.match(await offline(members), { code: 1, json: { error } }, JSON.stringify(members));
  }
  // Bytes of JSON name their author as broadcasts do.
  const { json } = await offline({});
  const encode = (members: object) =>
    run(['tx', 'encode', ...chain], { input: JSON.stringify({ ...json, ...members }) });
  t.equal((await encode({})).code, 0);
  t.match(jsonLines((await encode({ author: payer.text })).stdout)[0], { error: 102 });
  // The author's signature is the one that counts where another account has the data.
  const { body: tx } = await restOf(url, apiKey).post('/transactions/sign', {
    type: 12,
    sender: scripted.text,
    author: payer.text,
    data: [],
  });
  const verified = await run(['tx', 'verify', ...chain], { input: JSON.stringify(tx) });
  t.match(jsonLines(verified.stdout)[0], { valid: true });
});

t.test('the kin: a node that is registered by its key', async (t) => {
  const whole = await served(t);
  const { rest, accounts, plain, stranger } = whole;
  const request = {
    type: 111,
    sender: accounts[0].text,
    targetPubKey: key(stranger),
    nodeName: 'a node',
    opType: 'add',
  };
  t.match(await rest.post('/transactions/sign', { ...request, target: plain.text }), {
    status: 400,
    body: { error: 102, message: /target '\w+' is not the address of targetPubKey/ },
  });
  const tx = await rest.sign({ ...request, target: stranger.text });
  t.equal((await rest.post('/transactions/broadcast', { ...tx, target: plain.text })).status, 400);
  t.equal((await rest.post('/transactions/broadcast', tx)).status, 200);
});
