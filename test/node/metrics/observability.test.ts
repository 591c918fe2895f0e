// The lists of events and metrics against the sources, the dashboard and the alert rules.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import t from 'tap';
import ts from 'typescript';
import { parse } from 'yaml';
import { dataEvents, dataMetricTable } from '../../../src/data-service/observability.ts';
import {
  metricTable,
  events as nodeEvents,
  nodeMetrics,
} from '../../../src/node/metrics/observability.ts';

/** Those of the node and of the data service. */
const events: Readonly<Record<string, string>> = { ...nodeEvents, ...dataEvents };
const tables = [metricTable, dataMetricTable].flatMap((table) => Object.entries(table));

const root = new URL('../../../', import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, root), 'utf8');
const sources = readdirSync(new URL('src', root), { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts'))
  .map((name) => `src/${name}`);
const LISTS = ['src/node/metrics/observability.ts', 'src/data-service/observability.ts'];
const LEVELS = ['debug', 'info', 'warn', 'error'];

/** First arguments of all calls such as `log.info(…)`, `deps.log?.error(…)`. */
function loggedIn(file: string): string[] {
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (
      ts.isCallExpression(node) &&
      ts.isPropertyAccessExpression(node.expression) &&
      LEVELS.includes(node.expression.name.text) &&
      /(^|\.)log$/.test(node.expression.expression.getText())
    ) {
      found.push(...namesOf(node.arguments[0]));
    }
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(file, read(file), ts.ScriptTarget.Latest, true));
  return found;
}

/** A text, or all texts that `miner.${reason}` may become. */
function namesOf(argument: ts.Expression | undefined): string[] {
  if (argument === undefined) return ['(nothing)'];
  if (ts.isStringLiteralLike(argument)) return [argument.text];
  if (!ts.isTemplateExpression(argument)) return [`(${argument.getText()})`];
  const matching = Object.keys(events).filter((name) => name.startsWith(argument.head.text));
  return matching.length > 0 ? matching : [`(${argument.getText()})`];
}

t.test('every event that is logged is listed', async (t) => {
  const logged = sources.filter((file) => file !== 'src/adapters/log.ts').flatMap(loggedIn);
  const unlisted = logged.filter((name) => !Object.hasOwn(events, name));
  t.strictSame(unlisted, [], `${LISTS} say what each of them means`);
  for (const [name, help] of Object.entries(events)) {
    t.match(name, /^[a-z]+(\.[a-z-]+)+$/, name);
    t.match(help, /\w[.?]$/, `${name} is explained`);
  }
});

t.test('metrics', async (t) => {
  const names = tables.map(([, { name }]) => name);
  t.equal(new Set(names).size, names.length, 'each name stands once');
  for (const [, { name, kind, help }] of tables) {
    t.match(name, /^(node|ds)_[a-z_]+$/);
    t.equal(name.endsWith('_total'), kind === 'counter', name);
    t.match(help, /\.$/, `${name} is explained`);
  }
  const users = sources.filter((file) => !LISTS.includes(file)).map(read);
  const unset = tables
    .map(([key]) => key)
    .filter(
      (key) =>
        !users.some((text) => new RegExp(`metrics\\??\\.${key}(\\.\\w+\\(|[ ,;)])`).test(text)),
    );
  t.strictSame(unset, [], 'each one is set somewhere, or handed to who sets it');
});

t.test('without a sink nothing happens', async (t) => {
  const metrics = nodeMetrics();
  metrics.height.set(1);
  metrics.accepted.add();
  metrics.apply.start()();
  metrics.onRead(() => t.fail('nobody reads'));
});

t.test('dashboard and alert rules use what there is', async (t) => {
  const known = new Set(
    tables.flatMap(([, { name, kind }]) =>
      kind === 'histogram' ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name],
    ),
  );
  const used = (text: string): string[] => text.match(/\b(?:node|ds)_[a-z_]+/g) ?? [];
  for (const path of ['configs/grafana/platform-node.json', 'configs/prometheus/alerts.yml']) {
    if (!t.ok(existsSync(new URL(path, root)), path)) continue;
    const names = used(read(path));
    t.ok(names.length > 5);
    t.strictSame(
      [...new Set(names)].filter((name) => !known.has(name)),
      [],
      `${path} names only metrics of this node`,
    );
  }
  const shown = new Set(used(read('configs/grafana/platform-node.json')));
  const unseen = tables
    .filter(([, { name, kind }]) => !shown.has(kind === 'histogram' ? `${name}_bucket` : name))
    .map(([, { name }]) => name);
  t.strictSame(unseen, [], 'the dashboard shows every metric');
});

/** What an operator must hear of, and from what. */
const WATCHED = {
  NodeDown: 'up{job="platform-node"} == 0',
  NodeShutOut: 'node_shut_out == 1',
  CertificateEndsSoon:
    '(node_certificate_end_seconds or ds_certificate_end_seconds) - time() < 14 * 86400',
  DataDown: 'up{job="platform-data"} == 0',
  DataBehind: 'ds_lag_blocks > 10',
};

t.test('alerts that the guides name', async (t) => {
  const rules = new Map<string, string>();
  for (const { rules: some } of parse(read('configs/prometheus/alerts.yml')).groups) {
    for (const { alert, expr } of some) rules.set(alert, expr);
  }
  const guides = readdirSync(new URL('docs/guide', root)).map((name) => read(`docs/guide/${name}`));
  const named = guides.join().match(/`(?:Node|Data|Certificate)[A-Z]\w+`/g) ?? [];
  const names = named.map((name) => name.slice(1, -1));
  for (const [name, expr] of Object.entries(WATCHED)) t.equal(rules.get(name), expr, name);
  t.ok(names.includes('DataCrawlerGone'));
  t.strictSame(
    names.filter((name) => !rules.has(name)),
    [],
  );
  // It was there, and is not 1 now: 0, or gone with its process.
  t.match(
    rules.get('DataCrawlerGone'),
    /^max_over_time\(ds_crawling\[1d]\) unless ds_crawling == 1$/,
  );
});
