/** Charts as SVG. Sizes are attributes and colours come from the style sheet. */
import { h } from './dom.js';

const SPACE = 'http://www.w3.org/2000/svg';

function s(name, attributes, ...children) {
  const node = document.createElementNS(SPACE, name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, String(value));
  node.append(...children);
  return node;
}

const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });
const WIDTH = 640;
const HEIGHT = 200;
const LEFT = 64;
const BOTTOM = 28;

function frame(title, highest, first, last, ...content) {
  const label = `${title}: highest ${compact.format(highest)}`;
  const text = (x, y, anchor, words) => s('text', { x, y, 'text-anchor': anchor }, words);
  return h(
    'figure',
    { className: 'chart' },
    h('figcaption', {}, title),
    s(
      'svg',
      { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: 'img', 'aria-label': label },
      s('line', { class: 'axis', x1: LEFT, x2: WIDTH, y1: HEIGHT - BOTTOM, y2: HEIGHT - BOTTOM }),
      text(LEFT - 6, 18, 'end', compact.format(highest)),
      text(LEFT - 6, HEIGHT - BOTTOM, 'end', '0'),
      text(LEFT, HEIGHT - 6, 'start', first),
      text(WIDTH, HEIGHT - 6, 'end', last),
      ...content,
    ),
  );
}

/** `points`: `{label, value, title}`, in order. */
export function bars(title, points) {
  if (points.length === 0) return undefined;
  const highest = Math.max(1, ...points.map(({ value }) => value));
  const width = (WIDTH - LEFT) / points.length;
  const room = HEIGHT - BOTTOM - 6;
  const marks = points.map(({ value, title: words }, i) => {
    const height = Math.max(value > 0 ? 1 : 0, (value / highest) * room);
    return s(
      'rect',
      {
        class: 'bar',
        x: LEFT + i * width,
        y: HEIGHT - BOTTOM - height,
        width: Math.max(1, width - 1),
        height,
      },
      s('title', {}, words),
    );
  });
  return frame(title, highest, points[0].label, points.at(-1).label, ...marks);
}

export function curve(title, points) {
  if (points.length === 0) return undefined;
  const highest = Math.max(1, ...points.map(({ value }) => value));
  const step = (WIDTH - LEFT) / Math.max(1, points.length - 1);
  const room = HEIGHT - BOTTOM - 6;
  const path = points
    .map(({ value }, i) => `${LEFT + i * step},${HEIGHT - BOTTOM - (value / highest) * room}`)
    .join(' ');
  const line = s('polyline', { class: 'curve', points: path });
  return frame(title, highest, points[0].label, points.at(-1).label, line);
}

/** Shares as lines of different length, with names and numbers that a screen reader reads. */
export function barList(title, items) {
  if (items.length === 0) return undefined;
  const highest = Math.max(1, ...items.map(({ value }) => value));
  return h(
    'figure',
    { className: 'chart' },
    h('figcaption', {}, title),
    h(
      'ul',
      { className: 'shares' },
      items.map(({ label, value, text }) =>
        h(
          'li',
          {},
          h('span', {}, label),
          s(
            'svg',
            { viewBox: '0 0 100 6', preserveAspectRatio: 'none', 'aria-hidden': 'true' },
            s('rect', { class: 'bar', width: (100 * value) / highest, height: 6 }),
          ),
          h('span', { className: 'number' }, text ?? compact.format(value)),
        ),
      ),
    ),
  );
}
