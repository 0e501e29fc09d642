// Returns both sides of the diff that is shown, as text, the size that it tells, and those pairs of lines that differ
// in more than the marked words.
(() => {
  const side = (letter) => [...document.querySelectorAll(`td.line[id^="d${letter}"]`)].map((cell) => {
    let code = cell.nextElementSibling;
    while (!code.classList.contains('code')) code = code.nextElementSibling;
    const copy = code.cloneNode(true);
    copy.querySelectorAll('.sign, .moved-to').forEach((it) => it.remove());
    return copy.textContent;
  });
  return {
    before: side('a').join('\n'),
    after: side('b').join('\n'),
    size: document.querySelector('.size strong').textContent,
    badly_marked: [...document.querySelectorAll('tr.differs')]
                      .map((row) => {
                        const cells = [...row.querySelectorAll('td.changed')].map((cell) => {
                          const copy = cell.cloneNode(true);
                          copy.querySelectorAll('.sign, mark').forEach((it) => it.remove());
                          return copy.textContent.replace(/\s/g, '');
                        });
                        return cells.length === 2 && cells[0] !== cells[1] ? cells.join(' / ') : '';
                      })
                      .filter(Boolean)
  };
})()
