const { existsSync } = require('node:fs');
const { join } = require('node:path');

// The layer rule of docs/architecture.md: a folder imports only from layers below its own.
const layers = [
  ['base'],
  ['concurrency'],
  ['crypto', 'codec'],
  ['ledger', 'script'],
  ['tx', 'block', 'finality'],
  ['chain', 'consensus', 'mempool'],
  ['network', 'keystore', 'signer', 'contracts', 'privacy', 'miner', 'events'],
  ['rest-framework'],
  ['rest'],
  ['node'],
  ['cli', 'data-service', 'adapters'],
];
/** Rooms of a folder: each imports from those before it; files beside them see all. */
const rooms = {
  network: ['messages', 'sessions', 'peers', 'sync', 'gossip'],
  contracts: ['reads', 'images', 'statuses', 'waiting', 'execution', 'groups'],
  script: ['language', 'evaluation', 'compiler', 'text'],
  finality: ['votes', 'proofs', 'spread'],
  privacy: ['protocol', 'sending', 'storage', 'fetching', 'serving'],
};
for (const [folder, all] of Object.entries(rooms)) {
  const missing = all.filter((room) => !existsSync(join(__dirname, 'src', folder, room)));
  if (missing.length > 0)
    throw new Error(`src/${folder} has no ${missing}: its rule checks nothing`);
}
const services = layers[6].join('|');
/** The families of cryptography: folders of src/crypto. */
const families = 'curve25519|gost';
/** What makes a family in a thread of its own. */
const verifying = '^src/adapters/verify/signature-(threads|worker)\\.ts$';
const npm = [
  'npm',
  'npm-dev',
  'npm-optional',
  'npm-peer',
  'npm-bundled',
  'npm-no-pkg',
  'npm-unknown',
];

const dirs = (names) => `^src/(${names.join('|')})/`;
const ban = (name, comment, from, to) => ({ name, comment, severity: 'error', from, to });

module.exports = {
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'types'],
    },
  },
  forbidden: [
    ban('no-cycles', 'two files that need each other are one file', {}, { circular: true }),
    ban('resolvable', 'the imported file or package does not exist', {}, { couldNotResolve: true }),
    ban(
      'known-folder',
      'every source folder has its layer',
      { path: '^src/', pathNot: dirs(layers.flat()) },
      {},
    ),
    ...layers
      .slice(0, -1)
      .map((own, i) =>
        ban(
          `layer-${i}-looks-up`,
          `${own.join(', ')} know nothing of the layers above`,
          { path: dirs(own) },
          { path: dirs(layers.slice(i + 1).flat()) },
        ),
      ),
    ban(
      'consensus-is-rules',
      'consensus judges, it does not look into chain or pool',
      { path: '^src/consensus/' },
      { path: '^src/(chain|mempool)/' },
    ),
    ban(
      'families-are-interfaces',
      'code asks for a family of cryptography in src/crypto/families.ts and uses its interface',
      { path: '^src/', pathNot: `^src/crypto/(families\\.ts$|(${families})/)` },
      { path: `^src/crypto/(${families})/` },
    ),
    ...families
      .split('|')
      .map((family) =>
        ban(
          `family-${family}-is-closed`,
          'families of cryptography share nothing but what is beside them',
          { path: `^src/crypto/${family}/` },
          { path: `^src/crypto/(${families})/`, pathNot: `^src/crypto/${family}/` },
        ),
      ),
    ban(
      'services-are-strangers',
      'services meet in src/node, through narrow interfaces',
      { path: `^src/(${services})/` },
      { path: `^src/(${services})/`, pathNot: '^src/$1/' },
    ),
    ...Object.entries(rooms).flatMap(([folder, all]) =>
      all.map((room, i) =>
        ban(
          `${folder}-${room}-looks-up`,
          `${folder}/${room} knows nothing of what is built on it`,
          { path: `^src/${folder}/${room}/` },
          { path: `^src/${folder}/(?!(${all.slice(0, i + 1).join('|')})/)` },
        ),
      ),
    ),
    ban(
      'adapters-know-only-ports',
      'an adapter implements a port and knows nothing else of the node',
      { path: '^src/adapters/', pathNot: verifying },
      { path: '^src/(?!adapters/|base/|concurrency/)' },
    ),
    ban(
      'verifying-needs-a-family',
      'the thread that checks signatures makes its family of cryptography, and knows nothing else',
      { path: verifying },
      { path: '^src/(?!adapters/|base/|concurrency/|crypto/)' },
    ),
    ban(
      'framework-knows-no-program',
      'the node and the data service declare their routes with it, and it knows neither',
      { path: '^src/rest-framework/' },
      { path: '^src/(?!rest-framework/|base/|concurrency/|codec/|crypto/)' },
    ),
    ban(
      'data-service-is-a-client',
      'the data service sees the node from outside: as a client of its routes, with the rules of bans',
      { path: '^src/data-service/' },
      {
        path: '^src/(?!data-service/|base/|concurrency/|codec/|tx/|rest-framework/|rest/routes/|adapters/|events/(event-text|streams)|consensus/(ban-history|poa-bans|miner-rotation))',
      },
    ),
    ban(
      'pure-core',
      'the outside world is reached through ports',
      { path: '^src/(?!adapters/|cli/|crypto/)' },
      { dependencyTypes: ['core'] },
    ),
    ban(
      'no-async-hooks',
      'AsyncLocalStorage makes every promise and callback of the process slower for good',
      { path: '^(src|bin)/' },
      { path: '^(node:)?async_hooks$' },
    ),
    ban(
      'few-packages',
      'packages belong behind a port; crypto and cli may use them, rest, node, data-service typebox',
      { path: '^src/(?!adapters/|crypto/|cli/|rest-framework/|rest/|node/|data-service/)' },
      { dependencyTypes: npm },
    ),
    ban(
      'schemas-only',
      'here the only packages are typebox and re2js, which are functions of their arguments',
      { path: '^src/(rest-framework|rest|node|data-service)/' },
      { dependencyTypes: npm, pathNot: 'node_modules/(typebox|re2js)/' },
    ),
  ],
};
