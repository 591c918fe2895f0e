/**
 * The attacks that delayed or ended nodes before there were budgets, by number. Those with
 * pipelines and unfinished bodies (2 and 3) are in connections.ts, those with confidential data
 * (the end of 9, and 10) in private-items.ts.
 */
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { blockProtocols } from '../../../src/network/messages/block-messages.ts';
import { API_KEY } from '../e2e/network-folder.ts';
import { type Attack, answerTo, judged, tally } from './attack.ts';
import { flood } from './flood.ts';
import { connectPeer } from './peer.ts';
import { asPeer, worstOf } from './peers.ts';
import { peers, type Target } from './target.ts';

const MIB = 1024 * 1024;
const YEAR_MS = 365 * 86_400_000;
const TIME_OFF_MAX_MS = 5_000;

const listOf = (name: string, element: string, bytes: number, last = element): string =>
  `{"${name}":[${`${element},`.repeat(Math.floor(bytes / (element.length + 1)))}${last}]}`;

const post = ({ rest }: Target, path: string, body: string): Promise<string> =>
  answerTo(rest.url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': API_KEY },
    body,
  });

const bodies = (name: string, list: readonly (readonly [string, string])[]): Attack => ({
  name,
  async send(target) {
    const answers: string[] = [];
    for (const [path, body] of list) answers.push(await post(target, path, body));
    return tally(answers);
  },
});

const validate = '/addresses/validateMany';

const bodyRows: readonly Attack[] = [
  bodies('1: numbers instead of addresses, 8 MiB and 400 KB', [
    [validate, listOf('addresses', '1', 8 * MIB)],
    [validate, listOf('addresses', '1', 400_000)],
  ]),
  bodies('4: 8 MiB of empty texts, 220,000 addresses', [
    [validate, listOf('addresses', '""', 8 * MIB)],
    ['/permissions/addresses', listOf('addresses', '"3N"', 5 * 220_000)],
  ]),
  bodies('7: 17 digits in 8 MiB of numbers, 8 million digits, 8 million brackets', [
    [validate, listOf('addresses', '1', 8 * MIB, '12345678901234567')],
    [validate, `{"addresses":${'1'.repeat(8_000_000)}}`],
    [validate, '['.repeat(8_000_000)],
  ]),
];

const assetsRow: Attack = {
  name: '5: the balance of an owner of 400 assets, 1,000 times in a request',
  send: async (target) =>
    tally([
      await post(
        target,
        '/assets/balance',
        JSON.stringify({ addresses: Array.from({ length: 1000 }, () => target.owner) }),
      ),
    ]),
};

/** `atOnce`: of each. */
const longAnswersRow = (atOnce: number): Attack => ({
  name: `6: long answers, each on ${atOnce} connections at once`,
  async send(target) {
    const { rest, owner, assetId } = target;
    const paths = [
      '/blocks/seq/1/100',
      `/addresses/data/${owner}`,
      `/transactions/address/${owner}/limit/10000`,
      `/assets/${assetId}/distribution/1/limit/999`,
    ];
    const urls = paths.flatMap((path) => Array.from({ length: atOnce }, () => rest.url + path));
    return tally(await Promise.all(urls.map((url) => answerTo(url, {}))));
  },
});

/** Connections to the port of nodes that say nothing, from another address of this machine. */
const silentRow = (seconds: number): Attack => ({
  name: `8: 14 silent connections a second for ${seconds} s, and 7 honest peers`,
  async send(target) {
    const sockets: Socket[] = [];
    const timer = setInterval(() => {
      const { host, peerPort: port } = target;
      const socket = connect({ host, port, localAddress: '127.0.0.2' });
      socket.on('error', () => {});
      sockets.push(socket);
    }, 1000 / 14);
    let served = 0;
    const honest = peers.slice(0, 7);
    try {
      await sleep((seconds * 1000) / 2);
      for (const one of honest) {
        const peer = await connectPeer(target, one).catch(() => undefined);
        if (peer !== undefined) served++;
        await peer?.close();
      }
      await sleep((seconds * 1000) / 2);
    } finally {
      clearInterval(timer);
      for (const socket of sockets) socket.destroy();
    }
    return judged(served === honest.length, `honest peers served ×${served} of ${honest.length}`);
  },
});

const blocksRow = (streams: number, forMs: number): Attack => ({
  name: '9: transactions of a full block, and the largest blocks, again and again',
  send: (target) =>
    asPeer(target, 11, async (peer) => {
      const answers: string[] = [];
      for (const protocol of [blockProtocols.blockTxs, blockProtocols.blocks]) {
        const worst = await worstOf(target, peer, protocol);
        answers.push(await flood(peer, { ...worst, protocol, streams, forMs }));
      }
      return answers.join('; ');
    }),
});

/** `forMs`: of each lie. */
const timeRow = (forMs: number): Attack => ({
  name: '11: one of three time servers lies by a year, forwards, backwards and both',
  async send({ rest, lie }) {
    let off = 0;
    for (const [receivedMs, sentMs] of [
      [YEAR_MS, YEAR_MS],
      [-YEAR_MS, -YEAR_MS],
      [-YEAR_MS, YEAR_MS],
    ] as const) {
      lie({ server: 0, receivedMs, sentMs });
      await sleep(forMs);
      const { NTP } = (await rest.get('/utils/time')).body as { NTP: number };
      off = Math.max(off, Math.abs(NTP - Date.now()));
    }
    lie({ server: 0, receivedMs: 0, sentMs: 0 });
    return judged(off < TIME_OFF_MAX_MS, off < 1000 ? 'right within 1 s' : `off by ${off} ms`);
  },
});

export const namedRows = (isFull: boolean): Attack[] => [
  ...bodyRows,
  assetsRow,
  longAnswersRow(isFull ? 16 : 2),
  silentRow(isFull ? 12 : 2),
  blocksRow(isFull ? 16 : 4, isFull ? 5_000 : 300),
  timeRow(isFull ? 2_000 : 500),
];
