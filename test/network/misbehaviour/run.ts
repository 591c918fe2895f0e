/**
 * Runs mavericks against three honest miners, each with its own row. Afterwards the honest nodes
 * share one chain that has grown as if the mavericks had only been silent, no honest node has
 * blamed another, and each maverick has been treated as its row requires. MISBEHAVIOUR_SECONDS sets
 * how long it acts.
 */
import type { Test } from 'tap';
import { blockProtocols, encodeTip } from '../../../src/network/messages/block-messages.ts';
import { scheme } from '../../chain/chain-harness.ts';
import { Rng } from '../../generators/random.ts';
import { agree, type Cluster, type ClusterNode, cluster, tipOf } from '../cluster.ts';
import { HANDSHAKE, type Maverick, maverick, turnOf } from '../maverick.ts';
import { type Blame, nobody, type Row, type Scene } from './row.ts';

const HONEST = ['one', 'two', 'three'] as const;
const MAVERICKS = ['maverick', 'accomplice'] as const;
const ownerOf = (name: string): string => `owner of the ${name}`;
const SECONDS = Number(process.env['MISBEHAVIOUR_SECONDS'] ?? 75);
const STOP_SECONDS = 60;
/** Of the height that the honest nodes reach beside silent mavericks. */
const SHARE = 0.97;

/** Height that honest nodes reach beside so many silent mavericks, with the same settings. */
const undisturbed = new Map<string, number>();
const silent: Row = { name: 'nothing', act() {}, blame: nobody };

export async function misbehave(t: Test, rows: readonly Row[]): Promise<void> {
  const { length } = rows;
  const set = settingsOf(rows);
  const seconds = secondsOf(rows);
  const name = [length, seconds, ...set].join(' ');
  const baseline =
    undisturbed.get(name) ?? (await play(t, Array(length).fill({ ...silent, set, seconds })));
  undisturbed.set(name, baseline);
  const height = await play(t, rows);
  t.ok(height >= SHARE * baseline, `height ${height}, ${baseline} without the attack`);
}

const secondsOf = (rows: readonly Row[]): number =>
  Math.max(SECONDS, ...rows.map(({ seconds = 0 }) => seconds));
const settingsOf = (rows: readonly Row[]): readonly string[] => rows.flatMap(({ set = [] }) => set);

interface Player {
  readonly row: Row;
  readonly mav: Maverick;
  /** Timestamp of the parent on which it had its last turn. */
  lastTurn: number;
}

/** Gives the height. */
async function play(t: Test, rows: readonly Row[]): Promise<number> {
  const names = MAVERICKS.slice(0, rows.length);
  const seconds = secondsOf(rows);
  const at = await cluster(t, {
    miners: [...HONEST, ...names],
    others: names.map(ownerOf),
    set: settingsOf(rows),
    hasFiles: settingsOf(rows).length > 0,
  });
  const overheard = listen(at);
  await at.rounds(Math.max(...rows.map(({ idleRounds = 0 }) => idleRounds)));
  const noRoomFor = (message: Uint8Array): boolean =>
    rows.some((row) => row.noRoomFor?.(message) === true);
  const start = { knows: HONEST, noRoomFor };
  const nodes = await Promise.all(HONEST.map((name) => at.start(name, start)));
  const players = await Promise.all(
    rows.map(async (row, i): Promise<Player> => {
      const name = names[i]!;
      const identity = row.hasPrivacyOwner === true ? ownerOf(name) : undefined;
      return { row, mav: await maverick(t, at, name, { hello: row.hello, identity }), lastTurn: 0 };
    }),
  );
  await at.seconds(1);
  for (const { mav } of players) mav.pester(nodes);
  const [node] = nodes as [ClusterNode];
  const rng = new Rng(6);
  for (let second = 1; second <= seconds; second++) {
    await at.seconds(1);
    for (const player of players) {
      const { mav, row } = player;
      const now = at.clock.now();
      const { timestamp } = tipOf(node).header;
      const isTurn = turnOf(node, mav, now) !== undefined && timestamp !== player.lastTurn;
      if (isTurn) player.lastTurn = timestamp;
      // It pretends to follow the chain; who says nothing at all might be behind a dead line.
      mav.notifyAll(blockProtocols.head, encodeTip(tipOf(node), scheme));
      await row.act({ at, nodes, node, mav, second, now, rng, isTurn, overheard });
    }
  }
  const { height } = tipOf(node);
  // What is on its way arrives, and a round that two may have won is decided by the next.
  await at.rounds(3);
  t.ok(agree(nodes), 'the honest nodes have one chain');
  const owners = new Set(players.map(({ mav }) => mav.owner));
  for (const { log, name } of nodes) {
    const honest = log.of('peer.offence').filter(({ owner }) => !owners.has(String(owner)));
    t.strictSame(honest, [], `${name} has blamed no honest node`);
  }
  for (const { row, mav } of players) {
    checkBlame(t, row.blame, nodes, mav);
    const scene: Omit<Scene, 'isTurn'> = {
      ...{ at, nodes, node, mav, second: seconds, now: at.clock.now(), rng, overheard },
    };
    row.after?.(t, scene);
  }
  // Who stops waits for what it has asked, until its time is over.
  await Promise.all([...nodes.map(({ stop }) => stop()), at.seconds(STOP_SECONDS)]);
  return height;
}

/** What the first honest node says to the second while they shake hands. */
function listen(at: Cluster): readonly Uint8Array[] {
  const overheard: Uint8Array[] = [];
  const [from, to] = [at.member(HONEST[0]).host, at.member(HONEST[1]).host];
  at.faults = (sent) => {
    const isIt = sent.from === from && sent.to === to && sent.protocol === HANDSHAKE;
    if (isIt && sent.message.length > 0) overheard.push(sent.message.slice());
    return {};
  };
  return overheard;
}

function checkBlame(t: Test, blame: Blame, nodes: readonly ClusterNode[], mav: Maverick): void {
  if (blame === 'nobody') {
    const found = nodes.flatMap(({ log }) => log.of('peer.offence'));
    t.strictSame(
      found.filter(({ owner }) => owner === mav.owner),
      [],
      'which is no offence',
    );
    return;
  }
  const { event, fields } = blame;
  const found = nodes.flatMap(({ log }) => log.of(event));
  t.match(
    found.filter((line) => matches(line, fields)),
    [fields],
    `${event} in the log`,
  );
}

/** True where the line has these texts, or texts that fit. */
function matches(line: object, fields: object): boolean {
  const has = line as Record<string, unknown>;
  return Object.entries(fields).every(([key, value]) =>
    value instanceof RegExp ? value.test(String(has[key])) : has[key] === value,
  );
}
