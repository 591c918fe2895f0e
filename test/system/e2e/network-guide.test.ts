/**
 * docs/guide/network.md, as four operators and a fifth type it: each in a network namespace with the address
 * that the page gives it, and once more on one loopback, with other ports and options.
 */
import { copyFileSync, cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { isObject, type JsonObject } from '../../../src/base/json/json.ts';
import { freePorts } from '../../../src/cli/commands/dev/free-ports.ts';
import {
  ALL,
  addressOf,
  answers,
  CERTIFICATE,
  chapter,
  FOUNDERS,
  type Name,
  Operator,
  type Place,
} from './guide-operator.ts';
import { GuideWatch, headers } from './guide-watch.ts';
import { namespaces } from './namespaces.ts';
import { eventually } from './process.ts';

t.setTimeout(1_200_000);
const PATIENCE_MS = 150_000;
t.jobs = 1;
const isShort = process.env['NETWORK_GUIDE'] !== 'all' && 'npm run test:network types it once more';

/** A file that one sends to another. */
const post = (from: string, to: string): void => cpSync(from, to, { recursive: true });

/** Of the blocks above this height. */
async function generators(of: Operator, above: number): Promise<Set<string>> {
  const { height } = (await of.ask('/blocks/height')) as { height: number };
  const blocks = await headers(of, Math.max(2, above + 1), height);
  return new Set(blocks.map(({ generator }) => generator));
}

async function makesBlocks(who: string, seenBy: Operator): Promise<void> {
  const { height } = (await seenBy.ask('/blocks/height')) as { height: number };
  await eventually(
    `a block of ${who}`,
    async () => (await generators(seenBy, height)).has(who) || undefined,
    PATIENCE_MS,
  );
}

/** Also a vote, where the network has finality. */
async function takesPart(one: Operator, who: string, seenBy: Operator): Promise<void> {
  try {
    await makesBlocks(who, seenBy);
    if (!one.isFinal) return;
    await eventually(
      `votes of ${one.name}`,
      async () => {
        const state = await one.ask('/finality');
        return (isObject(state) && state['ownVotes'] === 'voting') || undefined;
      },
      PATIENCE_MS,
    );
    await eventually(
      `the vote of ${one.name} counts`,
      async () => {
        const state = (await seenBy.ask('/finality')) as { voters: { address: string }[] };
        return state.voters.some(({ address }) => address === who) || undefined;
      },
      PATIENCE_MS,
    );
  } catch (cause) {
    throw new Error(`${(cause as Error).message}\n${one.log.slice(-4000)}`);
  }
}

/**
 * The page says that drafts may be edited. A start on a busy machine can take the three turns after which a
 * miner makes no blocks for a while.
 */
function makePatient(folder: string): void {
  const file = join(folder, 'genesis.conf');
  const text = readFileSync(file, 'utf8');
  const patient = text.replace('warnings-for-ban = 3', 'warnings-for-ban = 30');
  if (patient === text) throw new Error(`${file} has other warnings`);
  writeFileSync(file, patient);
}

async function found(t: Test, operators: ReadonlyMap<Name, Operator>): Promise<void> {
  const [init, join1, merge, compare, ...rest] = chapter('Founding');
  const [start, own] = rest;
  const alpha = operators.get('alpha')!;
  const founders = FOUNDERS.map((name) => operators.get(name)!);
  for (const one of operators.values()) await one.type(chapter()[0]);
  await alpha.type(init);
  for (const folder of ['', ...FOUNDERS]) makePatient(join(alpha.home, 'acme', folder));
  for (const one of founders) {
    post(join(alpha.home, 'acme', one.name), one.folder);
    await one.type(['cd node']);
    one.placeCertificate();
    const { publicKey, address } = await one.answer(join1);
    t.match([publicKey, address], [String, String]);
    const request = `${one.name}.request.json`;
    copyFileSync(join(one.folder, request), join(alpha.home, request));
  }
  await alpha.type(['cd ..']);
  const { checksum } = await alpha.answer(merge);
  await alpha.type(['cd node']);
  for (const one of founders) {
    copyFileSync(join(alpha.home, 'acme', 'genesis.conf'), join(one.folder, 'genesis.conf'));
    const [seen, checked] = answers(await one.type(compare));
    t.equal(seen?.['checksum'], checksum, `${one.name} sees the checksum of the founder`);
    t.equal(checked?.['ok'], true);
    t.strictSame([checked?.['errors'], checked?.['warnings']], [[], []]);
  }
  for (const one of founders) await one.start(start);
  for (const one of founders) await one.type(own);
  for (const one of founders) {
    await takesPart(one, await one.owner(), alpha);
  }
}

async function addFifth(t: Test, operators: ReadonlyMap<Name, Operator>): Promise<void> {
  const [folder, join1, send, start, own] = chapter('Adding a fifth');
  const [beta, alpha, epsilon] = [
    operators.get('beta')!,
    operators.get('alpha')!,
    operators.get('epsilon')!,
  ];
  await beta.type(folder);
  post(join(beta.home, 'newcomers', 'epsilon'), epsilon.folder);
  await epsilon.type(['cd node']);
  epsilon.placeCertificate();
  const [asked, seen] = answers(await epsilon.type(join1));
  const { checksum } = await alpha.answer(['platform-node network checksum .']);
  t.equal(seen?.['checksum'], checksum);
  const early = await epsilon.start(start).then(
    () => 'it started',
    (cause: Error) => cause.message,
  );
  t.match(early, /not registered in the network/);
  t.equal(await epsilon.ended(), 77);
  copyFileSync(
    join(epsilon.folder, 'epsilon.request.json'),
    join(alpha.folder, 'epsilon.request.json'),
  );
  const [print, ...sends] = send!;
  const printed = answers(await alpha.type([print!]));
  t.match(printed, [
    { type: 111, opType: 'add', targetPubKey: asked?.['publicKey'], nodeName: 'epsilon' },
    { type: 102, opType: 'add', target: asked?.['address'], role: 'miner' },
  ]);
  const sent = answers(await alpha.type(sends));
  t.match(
    sent.map(({ type, height }) => [type, typeof height]),
    [
      [111, 'number'],
      [102, 'number'],
    ],
  );
  const again = answers(await alpha.type(sends));
  t.strictSame(again, [], 'what the chain has is left out');
  await epsilon.start(start);
  await epsilon.type(own);
  await takesPart(epsilon, String(asked?.['address']), alpha);
}

async function replaceKey(t: Test, operators: ReadonlyMap<Name, Operator>): Promise<void> {
  const [renew, replace, start] = chapter('Replacing a key');
  const [alpha, gamma] = [operators.get('alpha')!, operators.get('gamma')!];
  const old = await gamma.owner();
  const fresh = await gamma.answer(renew);
  t.equal(await gamma.ended(), 0);
  t.not(fresh['address'], old);
  copyFileSync(join(gamma.folder, 'gamma.request.json'), join(alpha.folder, 'gamma.request.json'));
  const sent = answers(await alpha.type([`OLD=${old}`, ...replace!]));
  const steps = sent.map(({ type, opType, height }) => ({ type, opType, height: Number(height) }));
  t.match(steps, [
    { type: 111, opType: 'add' },
    { type: 102, opType: 'add' },
    { type: 102, opType: 'remove' },
    { type: 111, opType: 'remove' },
  ]);
  t.ok(steps[2]!.height > steps[1]!.height, 'the old key goes when the new one is there');
  if (alpha.isFinal) t.ok(steps[3]!.height > steps[2]!.height, 'it votes on what takes its role');
  await gamma.start(start);
  await takesPart(gamma, String(fresh['address']), alpha);
  const { allowedNodes } = (await alpha.ask('/peers/allowedNodes')) as {
    allowedNodes: { address: string }[];
  };
  t.notOk(allowedNodes.some(({ address }) => address === old));
}

async function removeOne(t: Test, operators: ReadonlyMap<Name, Operator>): Promise<void> {
  const [remove] = chapter('Removing a member');
  const [alpha, delta] = [operators.get('alpha')!, operators.get('delta')!];
  const owner = await delta.owner();
  const sent = answers(await alpha.type([`MEMBER=${owner}`, ...remove!]));
  t.match(sent, [
    { type: 102, opType: 'remove', role: 'miner' },
    { type: 111, opType: 'remove' },
  ]);
  const [role, end] = sent.map(({ height }) => Number(height));
  if (alpha.isFinal) t.ok(end! > role!, 'it votes on what takes its role');
  await eventually(
    'the end of its connections',
    () => /network\.removed/.test(delta.log) || undefined,
  );
  const refused = await alpha.type(remove).then(
    () => '',
    (cause: Error) => cause.message,
  );
  t.match(refused, /neither address nor public key of a registered node/);
}

async function restoreOne(t: Test, operators: ReadonlyMap<Name, Operator>): Promise<void> {
  const [copy, restore, start] = chapter('Restoring a member');
  const [alpha, beta] = [operators.get('alpha')!, operators.get('beta')!];
  const owner = await beta.owner();
  const made = answers(await beta.type(copy));
  t.match(made, [{ height: Number }, { height: made[0]?.['height'] }]);
  await beta.loseDisk();
  const restored = await beta.answer(restore);
  beta.placeCertificate();
  t.match(restored, { height: made[0]?.['height'], keystore: 'restored' });
  await beta.start(start);
  await makesBlocks(owner, alpha);
  if (!alpha.isFinal) return;
  const state = await beta.ask('/finality');
  t.match(state, { ownVotes: 'without-note' }, 'it knows no vote since the backup');
}

async function upgradeAll(
  t: Test,
  operators: readonly Operator[],
  around: (one: Operator, work: () => Promise<void>) => Promise<void>,
): Promise<void> {
  const [stop, check, start, ready] = chapter('Upgrading all');
  for (const [i, one] of operators.entries()) {
    const seenBy = operators[(i + 1) % operators.length]!;
    const owner = await one.owner();
    await around(one, async () => {
      await one.type(stop);
      t.equal(await one.ended(), 0, `${one.name} stops in good order`);
      t.match(await one.answer(check), { ok: true });
      await one.start(start);
      await makesBlocks(owner, seenBy);
    });
    await eventually(`${one.name} is ready`, () => one.type(ready).catch(() => undefined));
  }
}

async function follow(
  t: Test,
  places: ReadonlyMap<Name, Place>,
  isUnderLoad: boolean,
): Promise<void> {
  const operators = new Map(
    ALL.map((name) => [name, new Operator(t, name, places.get(name)!)] as const),
  );
  const [alpha, beta, gamma] = FOUNDERS.map((name) => operators.get(name)!);
  const watch = new GuideWatch(t, alpha!);
  await found(t, operators);
  if (isUnderLoad) await watch.start();
  await watch.absent(operators.get('epsilon')!, () => addFifth(t, operators));
  await watch.absent(gamma!, () => replaceKey(t, operators));
  await removeOne(t, operators);
  await watch.absent(beta!, () => restoreOne(t, operators));
  const left = [alpha!, beta!, gamma!, operators.get('epsilon')!];
  // Two of them show that the others go on meanwhile.
  const upgraded = isShort ? left.slice(0, 2) : left;
  await upgradeAll(t, upgraded, (one, work) => watch.absent(one, work));
  await watch.end(left);
  const { height } = (await alpha!.ask('/blocks/height')) as { height: number };
  const hash = async (one: Operator) => {
    const header = (await one.ask(`/blocks/headers/at/${height}`)) as { signature: string };
    return header.signature;
  };
  const head = await hash(alpha!);
  for (const one of left) {
    await eventually(
      `the block at ${height} of ${one.name}`,
      async () => (await hash(one)) === head || undefined,
    );
  }
  const banned = (await alpha!.ask(`/consensus/bannedMiners/${height}`)) as JsonObject;
  t.strictSame(banned['bannedMiners'], []);
  for (const one of operators.values()) {
    for (const word of ['peer.banned', 'block.equivocation', 'fork.too-deep']) {
      t.notMatch(one.log, `"event":"${word}"`, `${one.name}: no ${word}`);
    }
  }
  for (const one of operators.values()) one.stop();
}

t.test('in namespaces, with the addresses of the page', async (t) => {
  const made = namespaces(t, ALL.map(addressOf));
  const typed = (line: string): string => line;
  await follow(t, new Map(ALL.map((name, i) => [name, { ...made[i]!, typed }])), true);
});

t.test('on one loopback, with national cryptography and TLS', { skip: isShort }, async (t) => {
  const ports = await freePorts(2 * ALL.length);
  const portsOf = (name: Name) =>
    [2 * ALL.indexOf(name), 2 * ALL.indexOf(name) + 1].map((i) => ports[i]!);
  const places = ALL.map((name): readonly [Name, Place] => {
    const [, rest] = portsOf(name);
    const typed = (line: string): string =>
      ALL.reduce((all, one) => {
        const [peer, restOf] = portsOf(one);
        return all.replace(`${one}=${addressOf(one)}`, `${one}=127.0.0.1:${peer}:${restOf}`);
      }, line)
        .replace('--out acme', '--crypto national --tls --out acme')
        .replace('--from .', '--from . --tls')
        .replace(/curl (-\w+)/, `curl $1 --cacert ${CERTIFICATE}`)
        .replaceAll('http://127.0.0.1:6862', `https://127.0.0.1:${rest}`);
    return [
      name,
      {
        within: [],
        typed,
        env: { PLATFORM_NODE_URL: `https://127.0.0.1:${rest}`, NODE_EXTRA_CA_CERTS: CERTIFICATE },
      },
    ];
  });
  // The client knows the international cryptography alone.
  await follow(t, new Map(places), false);
});
