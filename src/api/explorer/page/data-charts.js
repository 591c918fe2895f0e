/** The chain in pictures. */
import { ask } from './data-rest.js';
import { barList, bars, curve } from './data-svg.js';
import { addressLink, h, heading, link, table } from './dom.js';
import { dateTime, short } from './format.js';
import { get, maybe, path } from './rest.js';
import { typeName } from './tx.js';

const SPANS = [100, 1000, 10_000];
const UNITS = 1e8;

export async function chartsPage({ signal, query }) {
  const blocks = query.get('blocks') ?? '1000';
  const { value: stats, height } = await ask('stats', new URLSearchParams({ blocks }), signal);
  const { points, types, miners } = stats;
  const along = (value, unit) =>
    points.map((point) => ({
      label: dateTime(point.timestamp),
      value: value(point),
      title: `blocks ${point.from} to ${point.to}: ${value(point)} ${unit}`,
    }));
  const banned = await maybe(
    get(path`consensus/bannedMiners/${height ?? stats.points.at(-1)?.to}`),
    undefined,
  );
  let size = 0;
  return {
    title: 'Charts',
    content: [
      heading('Charts'),
      h(
        'p',
        { className: 'tools' },
        'The last ',
        SPANS.flatMap((span) => [link(`#/charts?blocks=${span}`, `${span} blocks`), ' ']),
      ),
      h(
        'div',
        { className: 'charts' },
        bars(
          'Transactions',
          along(({ transactions }) => transactions, 'transactions'),
        ),
        bars('Seconds between blocks', intervals(points)),
        bars(
          'Fees in coins',
          along(({ fees }) => Number(fees) / UNITS, 'coins'),
        ),
        bars(
          'Skipped rounds',
          along(({ skipped }) => skipped, 'rounds'),
        ),
        curve(
          'Growth in bytes',
          along(({ bytes }) => {
            size += bytes;
            return size;
          }, 'bytes'),
        ),
        barList(
          'Types of transactions, whole chain',
          types.map(({ type, count }) => ({ label: typeName(type), value: count })),
        ),
        barList(
          'Blocks of each miner',
          miners.map(({ address, blocks: made }) => ({ label: short(address), value: made })),
        ),
      ),
      table(
        'Miners of these blocks',
        [
          ['Miner', ({ address }) => addressLink(address)],
          ['Blocks', ({ blocks: made }) => String(made), 'number'],
          ['Banned now', ({ address }) => (isBanned(banned, address) ? 'yes' : 'no')],
        ],
        miners,
      ),
      h('p', {}, link('#/holders/NATIVE', 'Holders of the native coin')),
    ],
  };
}

function isBanned(banned, address) {
  return (banned?.bannedMiners ?? []).some((one) => (one.address ?? one) === address);
}

function intervals(points) {
  return points.slice(1).map((point, i) => {
    const seconds = (point.timestamp - points[i].timestamp) / 1000 / point.blocks;
    return {
      label: dateTime(point.timestamp),
      value: Math.round(seconds * 100) / 100,
      title: `blocks ${point.from} to ${point.to}: ${seconds.toFixed(2)} s`,
    };
  });
}
