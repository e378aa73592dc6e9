/** A canvas pattern of diagonal lines, for what is not stored and for baselines. */
export function hatch(
  context: CanvasRenderingContext2D,
  color: string,
  gap: number,
): CanvasPattern | string {
  const tile = document.createElement('canvas');
  tile.width = gap;
  tile.height = gap;
  const pen = tile.getContext('2d');
  if (pen === null) return color;
  pen.strokeStyle = color;
  pen.lineWidth = Math.max(1, gap / 8);
  pen.beginPath();
  for (const shift of [-gap, 0, gap]) {
    pen.moveTo(shift, gap);
    pen.lineTo(shift + gap, 0);
  }
  pen.stroke();
  return context.createPattern(tile, 'repeat') ?? color;
}
