/** All bytes of a body. Rejects with the error of `tooLong` where there are more; the rest is not read. */
export async function readBody(
  body: AsyncIterable<Uint8Array>,
  bytesMax: number,
  tooLong: () => Error,
): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of body) {
    bytes += piece.length;
    if (bytes > bytesMax) throw tooLong();
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}
