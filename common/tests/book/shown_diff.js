// Returns both sides of the diff that is shown, as text, and the size that it tells.
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
    differ: document.querySelectorAll('td.gone').length + document.querySelectorAll('td.come').length
  };
})()
