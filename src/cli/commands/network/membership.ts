/**
 * `platform-node network add|remove|replace`: the transactions by which members come and go, in the order in
 * which nobody waits for a node that is gone, and no member is without a key. What the chain has already is
 * left out, so an interrupted command can be repeated. With a sender they are sent and waited for.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { JsonObject } from '../../../base/json/json.ts';
import { blocks } from '../../../rest/routes/blocks.ts';
import { finality } from '../../../rest/routes/finality.ts';
import { peers } from '../../../rest/routes/peers.ts';
import { permissions } from '../../../rest/routes/permissions.ts';
import { transactions } from '../../../rest/routes/transactions.ts';
import type { Client } from '../../../rest-framework/client.ts';
import type { NodeFlags } from '../../node-options.ts';
import { answerOf } from '../../rest-calls.ts';
import { confirmed, passwordOf, waitSeconds } from '../../signed-calls.ts';
import { CliError } from '../../terminal/exit.ts';
import { printJson, say } from '../../terminal/output.ts';
import { signedConfigOf } from './genesis-file.ts';
import { type Request, readRequest } from './request.ts';

export interface MembershipFlags extends NodeFlags {
  /** Absent: the transactions are printed. */
  readonly sender?: string;
  readonly passwordEnv?: string;
  readonly wait: string;
}

export interface AddFlags extends MembershipFlags {
  readonly role?: readonly string[];
}

export interface ReplaceFlags extends MembershipFlags {
  readonly force?: boolean;
}

/** Transactions that need no waiting between them. */
export interface Stage {
  readonly txs: readonly JsonObject[];
  /** The address of an account that may be a voter: it is sent once it votes no more. */
  readonly without?: string;
}

const POLL_MS = 500;

export async function add(dir: string, source: string, flags: AddFlags): Promise<void> {
  const request = await readRequest(source, await signedConfigOf(dir));
  const roles = (flags.role ?? ['miner']).map((role) => ({ role }));
  await carryOut(flags, async (node) => [await arrival(node, request, roles)]);
}

export async function remove(member: string, flags: MembershipFlags): Promise<void> {
  await carryOut(flags, async (node) =>
    departure(node, await memberOf(node, member, flags.sender)),
  );
}

export async function replace(
  dir: string,
  member: string,
  source: string,
  flags: ReplaceFlags,
): Promise<void> {
  const request = await readRequest(source, await signedConfigOf(dir));
  if ([request.address, request.publicKey].includes(member)) {
    throw new CliError(`${source} is the request of the key that it would replace`);
  }
  await carryOut(flags, async (node) => {
    const old = await memberOf(node, member, flags.sender);
    if (!flags.force) await othersVote(node, [old.address, request.address]);
    // The new key first: the member is never without one, and its roles have a holder.
    return [
      await arrival(node, request, await rolesOf(node, old.address)),
      ...(await departure(node, old)),
    ];
  });
}

/**
 * A new key votes once it has made a block, and its old one votes no more. So each replacement that is not over
 * leaves fewer voters, down to two or three who all have to vote for ever.
 */
export async function othersVote(
  { call }: Client,
  changed: readonly [old: string, key: string],
): Promise<void> {
  const { isActive, voters, next } = await call(finality.state);
  if (!isActive) return;
  const voting = new Set([...voters, ...next].map(({ address }) => address));
  // Without a vote of the old key no voter leaves.
  if (!voting.has(changed[0])) return;
  const { allowedNodes } = await call(peers.allowedNodes);
  for (const { address } of allowedNodes) {
    if (changed.includes(address) || voting.has(address)) continue;
    const { roles } = await call(permissions.now, { params: { address } });
    const held = new Set(roles.map(({ role }) => role));
    // Who is banned never votes, however long one waits.
    if (!held.has('miner') || held.has('banned')) continue;
    throw new CliError(
      `${address} is a miner and does not vote yet: wait until GET /finality names it, and replace one key after ` +
        'the other. --force replaces this one now and leaves one voter fewer: for where that miner is gone, or has a script and never votes',
    );
  }
}

interface Role {
  readonly role: string;
  readonly dueTimestamp?: number | bigint;
}

interface Member {
  readonly address: string;
  readonly publicKey: string;
}

/** A ban is no right: it stays with the account that has it. */
async function rolesOf({ call }: Client, address: string): Promise<readonly Role[]> {
  const { roles } = await call(permissions.now, { params: { address } });
  return roles.filter(({ role }) => role !== 'banned');
}

/**
 * Names are not asked for: a node tells any name that it likes. An account that takes its own roles away cannot
 * end the registration.
 */
async function memberOf(
  { call }: Client,
  text: string,
  sender: string | undefined,
): Promise<Member> {
  const { allowedNodes } = await call(peers.allowedNodes);
  const found = allowedNodes.find(({ address, publicKey }) => [address, publicKey].includes(text));
  if (found !== undefined && found.address === sender) {
    throw new CliError(`${sender} cannot remove itself: another account has to sign`);
  }
  if (found !== undefined) return found;
  throw new CliError(`'${text}' is neither address nor public key of a registered node`);
}

async function arrival(
  node: Client,
  { name, address, publicKey }: Request,
  roles: readonly Role[],
): Promise<Stage> {
  const { allowedNodes } = await node.call(peers.allowedNodes);
  const isRegistered = allowedNodes.some((one) => one.address === address);
  const held = (await rolesOf(node, address)).map(({ role }) => role);
  const registration = {
    type: 111,
    version: 1,
    targetPubKey: publicKey,
    nodeName: name,
    opType: 'add',
  };
  const granted = roles.filter(({ role }) => !held.includes(role));
  return {
    txs: [
      ...(isRegistered ? [] : [registration]),
      ...granted.map((role) => permit(address, 'add', role)),
    ],
  };
}

/**
 * Roles first, so that no node waits for the blocks of one that is gone. Where the network votes, the member is
 * needed until it is no voter any more, and from the end of its registration on nobody hears its votes.
 */
async function departure(node: Client, { address, publicKey }: Member): Promise<readonly Stage[]> {
  const roles = await rolesOf(node, address);
  const { isActive } = await node.call(finality.state);
  const withdrawn = roles.map(({ role }) => permit(address, 'remove', { role }));
  const end = { type: 111, version: 1, targetPubKey: publicKey, opType: 'remove' };
  return isActive
    ? [{ txs: withdrawn }, { txs: [end], without: address }]
    : [{ txs: [...withdrawn, end] }];
}

const permit = (target: string, opType: string, role: Role): JsonObject => ({
  type: 102,
  version: 1,
  target,
  opType,
  ...role,
});

async function carryOut(
  flags: MembershipFlags,
  stagesOf: (node: Client) => Promise<readonly Stage[]>,
): Promise<void> {
  const { sender } = flags;
  const seconds = waitSeconds(flags.wait);
  const signer = { sender, ...passwordOf(flags) };
  await answerOf(flags, async (node) => {
    const stages = await stagesOf(node);
    const { height } = await node.call(blocks.height);
    if (stages.every(({ txs }) => txs.length === 0)) say('The chain has all of it already');
    if (sender === undefined) for (const { txs } of stages) txs.forEach(printJson);
    else await sendStages(node, stages, signer, { height, seconds });
  });
  if (sender === undefined) say('Not sent: --sender names the account that signs them');
}

/**
 * What was left out because the chain has it, at `height`, counts as what is sent: where the network votes, nothing
 * follows it before it is final.
 */
export async function sendStages(
  node: Client,
  stages: readonly Stage[],
  signer: JsonObject,
  { height, seconds }: { readonly height: number; readonly seconds: number },
): Promise<void> {
  for (const stage of stages) {
    await send(node, stage, signer, seconds);
    await finalUpTo(node, height, seconds);
  }
}

function finalUpTo({ call }: Client, height: number, seconds: number): Promise<void> {
  const isFinal = async (): Promise<boolean> => {
    const { isActive, finalHeight } = await call(finality.state);
    return !isActive || finalHeight >= height;
  };
  const otherwise = `block ${height} is not final after ${seconds} s: repeat the command once GET /finality says so`;
  return becomes(isFinal, seconds, otherwise);
}

/** Asks again and again. Rejects with CliError where it does not become true in time. */
async function becomes(
  isTrue: () => Promise<boolean>,
  seconds: number,
  otherwise: string,
): Promise<void> {
  const deadline = Date.now() + seconds * 1000;
  while (!(await isTrue())) {
    if (Date.now() > deadline) throw new CliError(otherwise);
    await pause(POLL_MS);
  }
}

/** Prints each transaction once it is in a block; in a final one where the network votes. */
async function send(
  node: Client,
  { txs, without }: Stage,
  signer: JsonObject,
  seconds: number,
): Promise<void> {
  const { call } = node;
  if (without !== undefined) await votesNoMore(call, without, seconds);
  const sent: JsonObject[] = [];
  for (const tx of txs) {
    sent.push(await call(transactions.signAndBroadcast, { body: { ...tx, ...signer } }));
  }
  const { isActive } = await call(finality.state);
  for (const tx of sent) printJson(await confirmed(node, tx, seconds, isActive));
}

/** The chain keeps the registration of a voter until then. */
function votesNoMore(call: Client['call'], address: string, seconds: number): Promise<void> {
  const hasLeft = async (): Promise<boolean> => {
    const { voters, next } = await call(finality.state);
    return ![...voters, ...next].some((one) => one.address === address);
  };
  const otherwise = `${address} still votes after ${seconds} s: repeat the command once GET /finality does not name it`;
  return becomes(hasLeft, seconds, otherwise);
}
