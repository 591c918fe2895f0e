/** The chain in pictures. */
import { ask } from './data-rest.js';
import { barList, bars, curve } from './data-svg.js';
import { addressLink, blockLink, h, heading, link, table } from './dom.js';
import { dateTime, short } from './format.js';
import { typeName } from './tx.js';

const SPANS = [100, 1000, 10_000];
const UNITS = 1e8;

export async function chartsPage({ signal, query }) {
  const blocks = query.get('blocks') ?? '1000';
  const { value: stats } = await ask('stats', new URLSearchParams({ blocks }), signal);
  const { points, types, miners, bans } = stats;
  const along = (value, unit) =>
    points.map((point) => ({
      label: dateTime(point.timestamp),
      value: value(point),
      title: `blocks ${point.from} to ${point.to}: ${value(point)} ${unit}`,
    }));
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
        bars(
          'Banned miners',
          along(({ banned }) => banned, 'miners'),
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
        barList(
          'Missed turns of each miner',
          miners.map(({ address, missed }) => ({ label: short(address), value: missed })),
        ),
      ),
      table(
        'Miners of these blocks',
        [
          ['Miner', ({ address }) => addressLink(address)],
          ['Blocks', ({ blocks: made }) => String(made), 'number'],
          ['Missed turns', ({ missed }) => String(missed), 'number'],
          ['Bans', ({ bans: times }) => String(times), 'number'],
        ],
        miners,
      ),
      table(
        'Bans in these blocks',
        [
          ['Miner', ({ address }) => addressLink(address)],
          ['From block', ({ from }) => blockLink(from), 'number'],
          ['To block', ({ to }) => String(to), 'number'],
        ],
        bans,
        'No miner was banned in these blocks.',
      ),
      h('p', {}, link('#/holders/NATIVE', 'Holders of the native coin')),
    ],
  };
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
