// Which handler a path has.
import t from 'tap';
import { Router } from '../../../../src/adapters/http/node-http/router.ts';

const router = new Router<string>();
for (const pattern of ['/', '/a', '/a/b', '/a/:x', '/a/:x/c', '/a/b/d', '/:x/b/c']) {
  router.add(pattern, pattern);
}

t.test('the pattern of a path, with its parameters', async (t) => {
  const expected: [path: string, pattern: string | undefined, ...params: string[]][] = [
    ['/', '/'],
    ['/a', '/a'],
    ['/a/b', '/a/b'],
    ['/a/c', '/a/:x', 'c'],
    ['/a/b/d', '/a/b/d'],
    ['/a/b/c', '/a/:x/c', 'b'],
    ['/a/%2F/c', '/a/:x/c', '%2F'],
    ['/z/b/c', '/:x/b/c', 'z'],
    ['/a/', undefined],
    ['/a//c', undefined],
    ['//a', undefined],
    ['/z', undefined],
    ['/a/b/c/d', undefined],
    ['/A', undefined],
    ['', '/'],
  ];
  for (const [path, pattern, ...params] of expected) {
    const found = router.find(path);
    t.strictSame([path, found?.value, ...(found?.params ?? [])], [path, pattern, ...params]);
  }
});
