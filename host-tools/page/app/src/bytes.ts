// Bytes of the page's data blocks.

/** The bytes that a text in Base64 stands for. `atob` would make a string of them first, piece by piece keeps it short. */
export function fromBase64(text: string): Uint8Array {
  const padding = text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0;
  const bytes = new Uint8Array((text.length / 4) * 3 - padding);
  const piece = 1 << 16;
  for (let from = 0, to = 0; from < text.length; from += piece) {
    const part = atob(text.slice(from, from + piece));
    for (let i = 0; i < part.length; i++) bytes[to++] = part.charCodeAt(i);
  }
  return bytes;
}

/** The numbers whose lowest bytes come first, then their second bytes, and so on. */
export function fromPlanes(planes: Uint8Array): Uint32Array {
  const count = planes.length / 4;
  const numbers = new Uint32Array(count);
  for (let i = 0; i < count; i++) {
    numbers[i] =
      (planes[i] | (planes[count + i] << 8) | (planes[2 * count + i] << 16) | (planes[3 * count + i] << 24)) >>> 0;
  }
  return numbers;
}
