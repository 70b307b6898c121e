//! The document that is measured: an invoice of one page, without script and without references.

use std::fmt::Write;

/// The page.
pub fn page() -> String {
    let mut rows = String::new();
    for number in 1..=24 {
        let (amount, price) = (number % 5 + 1, f64::from(number) * 12.5);
        let total = f64::from(amount) * price;
        let _ = write!(
            rows,
            "<tr><td>{number}</td><td>Consulting, work package {number}</td><td>{amount}</td>\
             <td>{price:.2} €</td><td>{total:.2} €</td></tr>"
        );
    }
    format!(
        "<!doctype html><html lang=en><head><meta charset=utf-8><title>Invoice 2024-0815</title>\
         <style>{STYLE}</style></head><body><header>{LOGO}<h1>Invoice 2024-0815</h1></header>\
         <p class=to>Example GmbH<br>Grüner Weg 7<br>10115 Berlin</p><table><thead><tr><th>#</th>\
         <th>Item</th><th>Amount</th><th>Price</th><th>Total</th></tr></thead><tbody>{rows}</tbody>\
         </table><p class=sum>Total: 10 887.50 €</p><footer>Payable within 14 days. \
         Thank you for your business.</footer></body></html>"
    )
}

const STYLE: &str = "body{font:10pt/1.4 'Liberation Sans',sans-serif;margin:18mm;color:#223}\
    header{display:flex;justify-content:space-between;align-items:center;border-bottom:2px solid #36c}\
    h1{font-size:18pt;color:#36c}table{width:100%;border-collapse:collapse;margin-top:8mm}\
    th{text-align:left;background:#eef;padding:2mm}td{padding:1.5mm 2mm;border-bottom:1px solid #dde}\
    tr:nth-child(even) td{background:#f8f9ff}td:nth-child(n+3){text-align:right}\
    .sum{text-align:right;font-weight:bold;font-size:12pt}footer{margin-top:10mm;color:#667}";

const LOGO: &str = "<svg width=60 height=60 viewBox='0 0 60 60'><defs><linearGradient id=g>\
    <stop offset=0 stop-color='#36c'/><stop offset=1 stop-color='#9cf'/></linearGradient></defs>\
    <rect width=60 height=60 rx=12 fill='url(#g)'/><path d='M15 40 L30 15 L45 40 Z' fill='#fff'/></svg>";
