/** Names of images that an author may choose freely, and patterns that an operator writes. */
import t from 'tap';
import { imagePattern, isNameOf, parseImageName } from '../../src/base/image-name.ts';

const DIGEST = `sha256:${'0'.repeat(64)}`;

t.test('names', async (t) => {
  const full = (name: string, registry?: string) => parseImageName(name, registry)?.full;
  t.equal(full('sum'), 'sum:latest');
  t.equal(full('team/sum:1'), 'team/sum:1');
  t.equal(full('localhost/sum'), 'localhost/sum:latest');
  t.equal(full('host:5000/team/sum'), 'host:5000/team/sum:latest');
  t.equal(full('sum:1', 'registry.org'), 'registry.org/sum:1');
  t.equal(full('other.org/sum:1', 'registry.org'), 'other.org/sum:1');
  t.equal(full(`a.org/sum:1@${DIGEST}`), `a.org/sum@${DIGEST}`);

  const place = (name: string, registry?: string) => {
    const parsed = parseImageName(name, registry);
    return parsed && `${parsed.registry} ${parsed.path}`;
  };
  t.equal(place('sum'), 'docker.io library/sum');
  t.equal(place('team/sum'), 'docker.io team/sum');
  t.equal(place('index.docker.io/sum'), 'docker.io library/sum');
  t.equal(place('Registry.ORG/sum'), 'registry.org sum');
  t.equal(place('localhost/sum'), 'localhost sum');
  t.equal(place('localhost:5000'), 'docker.io library/localhost', 'a tag');
  t.equal(place('[::1]:5000/sum'), '[::1]:5000 sum');
  t.equal(place('host:5000/sum', 'a.org'), 'host:5000 sum');
  t.equal(place('10.0.0.5:8080/x', 'a.org'), '10.0.0.5:8080 x');
});

t.test('what an engine takes for no name, an id or many images', async (t) => {
  const bad = [
    ...[
      '',
      ' ',
      'sum:',
      'a/b:',
      ':1',
      '@',
      '/',
      ':',
      'a b',
      'a?b',
      'a#b',
      'ж',
      'sum\u0000',
      'sum\n',
    ],
    ...['UPPER/sum', 'Sum', 'a.org/Sum', '../../info', 'a/../b', 'a//b', '/a', 'a/', '%2e%2e/x'],
    ...['user@a.org/sum', 'user:word@a.org/sum', 'https://a.org/sum', 'a.org:/sum', 'a.org:0/sum'],
    ...[
      'a.org:99999/sum',
      '-a.org/sum',
      'a-.org/sum',
      'a..org/sum',
      'a.org./sum',
      '[::1/sum',
      '::1/s',
    ],
    ...[
      'a.org/\u017fum',
      'a.org/sum@sha256:00',
      `sum@sha512:${'0'.repeat(128)}`,
      `sum@${DIGEST}@x`,
    ],
    ...[DIGEST, '0'.repeat(64), `sum:${'x'.repeat(129)}`, 'sum:-1', `sum@${DIGEST.toUpperCase()}`],
    ...[
      'a\u2215b/c',
      'xn--\u00fc.org/a',
      'a.org:80a/b',
      'sum::1',
      'a___b',
      'a.-b',
      '.a',
      'a.org/.a',
    ],
  ];
  for (const name of bad) {
    t.equal(parseImageName(name), undefined, JSON.stringify(name));
    t.equal(parseImageName(name, 'registry.org'), undefined, JSON.stringify(name));
  }
});

t.test('names that an engine lists', async (t) => {
  t.ok(isNameOf(parseImageName('docker.io/library/sum')!, 'sum:latest'));
  t.ok(isNameOf(parseImageName('Registry.org/sum')!, 'registry.org/sum:latest'));
  t.notOk(isNameOf(parseImageName('sum')!, 'sum:1'));
  t.notOk(isNameOf(parseImageName('sum')!, 'other/sum:latest'));
  t.notOk(isNameOf(parseImageName('sum')!, '<none>:<none>'));
});

t.test('patterns', async (t) => {
  const matches = (pattern: string, name: string, registry?: string) =>
    imagePattern(pattern, registry)!(parseImageName(name, registry)!);
  t.ok(matches('a.org/team/*', 'a.org/team/sum:1'));
  t.ok(matches('A.org/team/s*m', `a.org/team/sum@${DIGEST}`), 'without a tag: every tag');
  t.notOk(matches('a.org/team/*', 'a.org/team/deep/sum'));
  t.notOk(matches('a.org/team/*', 'a.org:8080/team/sum'), 'another port');
  t.notOk(matches('a.org/*', 'b.org/sum'));
  t.ok(matches('*.a.org/sum', 'x.a.org/sum'));
  t.notOk(matches('*.a.org/sum', 'evil.com/x.a.org/sum'), 'no star is a slash');
  t.notOk(matches('10.0.0.*/x', '10.0.0.evil.com/x'), 'nor a dot of the domain');
  t.notOk(matches('a.org/x', 'a-org/x'), 'a dot is a dot');
  t.ok(matches('a.org/sum:1.*', 'a.org/sum:1.2'));
  t.notOk(matches('a.org/sum:1.*', 'a.org/sum:2'));
  t.notOk(matches('a.org/sum:*', `a.org/sum@${DIGEST}`));
  t.ok(matches('sum', 'docker.io/library/sum'));
  t.ok(matches('team/*', 'team/sum', 'registry.org'));
  t.notOk(matches('team/*', 'docker.io/team/sum', 'registry.org'));
  for (const bad of ['', 'a.org/', 'https://a.org/*', 'a.org:*/x', 'a.org/Sum', '*/', 'a.org/x:']) {
    t.equal(imagePattern(bad), undefined, bad);
  }
});
